package crdb

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// A transaction under locks is READ COMMITTED: each statement sees what was committed before it, and what is locked does not change
// any more. The locks are PostgreSQL's advisory ones, which end with the transaction, after what it did can be seen; those who wait
// for one get it in the order in which they came. Two ids with the same key wait for each other without need, no more. A lock tells
// the time at which it was got: what is done under it is later than what was done by those who had it before.
const (
	beginLocking = "begin isolation level read committed read write"
	lockAlone    = "SELECT pg_advisory_xact_lock($1), clock_timestamp()"
	lockShared   = "SELECT pg_advisory_xact_lock_shared($1), clock_timestamp()"

	// lockIdle gets a lock or divides by zero (22012).
	lockIdle = "SELECT 1 / pg_try_advisory_xact_lock_shared($1)::INT, clock_timestamp()"

	// lockAtOnce gets locks or fails, and has the statements behind it wait no longer than a moment for rows.
	lockAtOnce = "SELECT 1 / bool_and(CASE WHEN alone THEN pg_try_advisory_xact_lock(k) ELSE pg_try_advisory_xact_lock_shared(k) END)::INT, clock_timestamp()," +
		" set_config('lock_timeout', '50ms', true) FROM unnest($1::INT8[], $2::BOOL[]) AS l (k, alone)"
	waitAMoment = "SET LOCAL lock_timeout = '50ms'" // where there are no locks
)

// lockSet is the locks of one transaction.
type lockSet struct {
	held map[int64]bool // true: alone; asked for, at least
	next map[int64]bool // to get before the next statement

	atOnce bool // they are got without waiting, or the transaction fails

	shared map[int64]ipam.ID // locks for which the transaction does not wait (storage.Locks.InTurn)
	asked  []int64           // the locks that ahead asked for, in their order
	busy   int64             // the lock among shared that another transaction has alone
}

func newLockSet(l storage.Locks) *lockSet {
	s := &lockSet{held: map[int64]bool{}, next: map[int64]bool{}}
	s.want(true, l.Alone...)
	s.want(false, l.Shared...)
	if l.InTurn {
		s.shared = make(map[int64]ipam.ID, len(l.Shared))
		for _, id := range l.Shared {
			s.shared[lockKey(id)] = id
		}
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

// take is what to lock now. The order of keys is the same for all, so that those who name everything at once never wait in a circle.
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

// occupied returns the error of a transaction that did not get a lock for which it does not wait, or nil.
func (s *lockSet) occupied() error {
	if id, is := s.shared[s.busy]; is {
		return &storage.Occupied{ID: id}
	}
	return nil
}

// lockKey is the random half of an id.
func lockKey(id ipam.ID) int64 { return int64(binary.BigEndian.Uint64(id[8:])) } //nolint:gosec // bits, not a number

// lock asks for ids that the transaction is to be alone with, if it is under locks; the next statement waits for them.
func (c *conn) lock(ids ...ipam.ID) {
	if c.locks != nil {
		c.locks.want(true, ids...)
	}
}

// holdsAll refuses, in a transaction under locks, a change of free blocks in a container that is not locked and not new. It is
// a bug, and would be a quiet one.
func (c *conn) holdsAll(ch storage.Changes) error {
	if c.locks == nil {
		return nil
	}
	for _, f := range ch.Free {
		fresh := len(f.Delete) == 0 && (len(ch.SpaceInsert) > 0 || slices.ContainsFunc(ch.PoolInsert, func(p ipam.Pool) bool { return p.UID == f.Container.ID }))
		if !fresh && !c.locks.held[lockKey(f.Container.Lock())] {
			return fmt.Errorf("container %s is changed and not locked", f.Container.ID)
		}
	}
	return nil
}
