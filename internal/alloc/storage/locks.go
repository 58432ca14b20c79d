package storage

import (
	"slices"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Locks names the dependencies of a transaction besides the rows that it writes. Before its first read, a transaction with locks waits until no other
// transaction holds an excluding lock. It keeps its locks to its end. The store may then do without the cost of SERIALIZABLE (see package crdb).
// Every transaction that changes a container's blocks must name the container, or reach it by FreeRead or GroupRead, which lock it. With zero Locks
// the transaction is SERIALIZABLE.
//
// A lock is an id of any object: a container (Container.Lock: a pool in a region, or a family of a space), a project, a space.
type Locks struct {
	Alone  []ipam.ID // exclusive locks
	Shared []ipam.ID // shared locks

	// Busy are containers in Alone that other transactions change all the time. In an engine with nothing but SERIALIZABLE, a long transaction on
	// them would never commit. There it locks their fences from its start.
	Busy []Container

	// InTurn reports that other requests wait for this one's pool lock in the process. So the transaction does not wait for its Shared locks: it ends in
	// LockBusy if another transaction holds one of them exclusively. It ends in RegionNotRecorded if Store.Place has work to do first. The caller releases the
	// pool lock, waits, and tries again.
	InTurn bool
}

// Any reports whether any lock is named.
func (l Locks) Any() bool { return len(l.Alone)+len(l.Shared) > 0 }

// SameThing returns contention if the transaction found an object with another id than the locked one: the object was deleted and created again
// meanwhile.
func SameThing(locked, found ipam.ID) error {
	if locked == found {
		return nil
	}
	return Contention(nil)
}

// And returns the combined locks for both parts of a transaction.
func (l Locks) And(m Locks) Locks {
	return Locks{Alone: slices.Concat(l.Alone, m.Alone), Shared: slices.Concat(l.Shared, m.Shared), Busy: slices.Concat(l.Busy, m.Busy), InTurn: l.InTurn || m.InTurn}
}
