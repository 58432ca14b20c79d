package crdb

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// A transaction under locks is READ COMMITTED. Each of its statements sees all earlier commits, and the locked rows do not change any more. The locks
// are PostgreSQL's advisory locks:
//
//   - They end with the transaction, after its changes are visible.
//   - Waiting transactions get a lock in arrival order.
//   - If two ids have the same key, one of their transactions waits for the other without need. That does no other harm.
//   - A lock returns the time at which it was granted. So the changes under a lock have a later time than its earlier owners' changes.
const (
	beginLocking  = "begin isolation level read committed read write"
	lockExclusive = "SELECT pg_advisory_xact_lock($1), clock_timestamp()"
	lockShared    = "SELECT pg_advisory_xact_lock_shared($1), clock_timestamp()"

	// lockIdle gets a shared lock without waiting. If another transaction holds the lock exclusively, lockIdle divides by zero (SQLSTATE 22012).
	lockIdle = "SELECT 1 / pg_try_advisory_xact_lock_shared($1)::INT, clock_timestamp()"

	// lockAtOnce gets all locks without waiting, or fails. It also limits later waits for locked rows to 50 ms.
	lockAtOnce = "SELECT 1 / bool_and(CASE WHEN alone THEN pg_try_advisory_xact_lock(k) ELSE pg_try_advisory_xact_lock_shared(k) END)::INT, clock_timestamp()," +
		" set_config('lock_timeout', '50ms', true) FROM unnest($1::INT8[], $2::BOOL[]) AS l (k, alone)"
	waitBriefly = "SET LOCAL lock_timeout = '50ms'" // the limit of 50 ms for an engine without these locks
)

// lockSet contains one transaction's locks.
type lockSet struct {
	held map[int64]bool // true: exclusive; includes the locks in next
	next map[int64]bool // requested by the transaction, and sent with the next statement

	noWait bool // true: the transaction fails instead of waiting for a lock

	tryShared []ipam.ID // shared locks that the transaction does not wait for (storage.Locks.TryShared)
	requested []int64   // the keys in the last preamble, in its order
	busy      *int64    // the key of the lock in tryShared that another transaction holds exclusively; nil: no such lock
}

func newLockSet(l storage.Locks) *lockSet {
	s := &lockSet{held: map[int64]bool{}, next: map[int64]bool{}}
	s.want(true, l.Exclusive...)
	s.want(false, l.Shared...)
	if l.TryShared {
		s.tryShared = l.Shared
	}
	return s
}

func (s *lockSet) want(exclusive bool, ids ...ipam.ID) {
	for _, id := range ids {
		k := lockKey(id)
		if was, held := s.held[k]; !held || (exclusive && !was) {
			s.held[k], s.next[k] = exclusive, exclusive
		}
	}
}

// take returns the keys to lock now, sorted. All transactions use this order. So transactions that request all their locks at once never deadlock.
func (s *lockSet) take() (keys []int64, exclusive []bool) {
	keys = slices.Sorted(maps.Keys(s.next))
	for _, k := range keys {
		exclusive = append(exclusive, s.next[k])
	}
	clear(s.next)
	return keys, exclusive
}

// busyError returns *storage.LockBusy if another transaction holds a lock in tryShared exclusively, and otherwise nil.
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

// lock requests exclusive locks on ids. They are acquired before the next statement. Outside a transaction under locks, lock does nothing.
func (c *conn) lock(ids ...ipam.ID) {
	if c.locks != nil {
		c.locks.want(true, ids...)
	}
}

// checkLocks returns an error if a transaction under locks changes free blocks in a container without the container's lock. Such a change is a bug
// that no other check detects. A new container needs no lock.
func (c *conn) checkLocks(ch storage.Changes) error {
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
