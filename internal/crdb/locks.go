package crdb

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// A transaction under locks is READ COMMITTED: each statement sees all earlier commits, and locked rows do not change any more. The locks are
// PostgreSQL's advisory locks. They end with the transaction, after its changes are visible, and waiters get them in order of arrival. Two ids with
// the same key only wait for each other without need. A lock returns the time at which it was granted, so the changes under it are later than earlier
// owners' changes.
const (
	beginLocking = "begin isolation level read committed read write"
	lockAlone    = "SELECT pg_advisory_xact_lock($1), clock_timestamp()"
	lockShared   = "SELECT pg_advisory_xact_lock_shared($1), clock_timestamp()"

	// lockIdle gets a shared lock or divides by zero (22012). It never waits.
	lockIdle = "SELECT 1 / pg_try_advisory_xact_lock_shared($1)::INT, clock_timestamp()"

	// lockAtOnce gets all locks at once or fails. Later statements wait at most 50 ms for rows.
	lockAtOnce = "SELECT 1 / bool_and(CASE WHEN alone THEN pg_try_advisory_xact_lock(k) ELSE pg_try_advisory_xact_lock_shared(k) END)::INT, clock_timestamp()," +
		" set_config('lock_timeout', '50ms', true) FROM unnest($1::INT8[], $2::BOOL[]) AS l (k, alone)"
	waitBriefly = "SET LOCAL lock_timeout = '50ms'" // for an engine without locks
)

// lockSet contains one transaction's locks.
type lockSet struct {
	held map[int64]bool // true: exclusive; includes requested locks
	next map[int64]bool // requested, for the next statement

	noWait bool // get the locks without waiting, or fail the transaction

	tryShared []ipam.ID // shared locks for which the transaction does not wait (storage.Locks.InTurn)
	requested []int64   // the locks of the last preamble, in their order
	busy      *int64    // the lock in tryShared that another transaction holds exclusively; nil: none
}

func newLockSet(l storage.Locks) *lockSet {
	s := &lockSet{held: map[int64]bool{}, next: map[int64]bool{}}
	s.want(true, l.Alone...)
	s.want(false, l.Shared...)
	if l.InTurn {
		s.tryShared = l.Shared
	}
	return s
}

func (s *lockSet) want(alone bool, ids ...ipam.ID) {
	for _, id := range ids {
		k := lockKey(id)
		if was, held := s.held[k]; !held || (alone && !was) {
			s.held[k], s.next[k] = alone, alone
		}
	}
}

// take returns the keys to lock now. All transactions sort them, so transactions that request all their locks at once never deadlock.
func (s *lockSet) take() (keys []int64, alone []bool) {
	for k := range s.next {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		alone = append(alone, s.next[k])
	}
	clear(s.next)
	return keys, alone
}

// busyError returns *storage.LockBusy if another transaction held a lock in tryShared, and otherwise nil.
func (s *lockSet) busyError() error {
	for _, id := range s.tryShared {
		if s.busy != nil && lockKey(id) == *s.busy {
			return &storage.LockBusy{ID: id}
		}
	}
	return nil
}

// lockKey returns an id's random half.
func lockKey(id ipam.ID) int64 { return int64(binary.BigEndian.Uint64(id[8:])) } //nolint:gosec // bits, not a number

// lock requests exclusive locks on ids, if the transaction is under locks. The next statement waits for them.
func (c *conn) lock(ids ...ipam.ID) {
	if c.locks != nil {
		c.locks.want(true, ids...)
	}
}

// holdsAll returns an error when a transaction under locks changes free blocks in a container that is neither locked nor new. That is a bug, which
// nothing else would detect.
func (c *conn) holdsAll(ch storage.Changes) error {
	if c.locks == nil {
		return nil
	}
	for _, f := range ch.Free {
		fresh := len(f.Delete) == 0 && (len(ch.SpaceInsert) > 0 || slices.ContainsFunc(ch.PoolInsert, func(p ipam.Pool) bool { return p.UID == f.Container.ID }))
		if !fresh && !c.locks.held[lockKey(f.Container.Lock())] {
			return fmt.Errorf("the transaction changes container %s without its lock", f.Container.ID)
		}
	}
	return nil
}
