package storage

import (
	"slices"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Locks names the objects that a transaction depends on, in addition to the rows that it writes. Before its first read, the transaction waits until
// no other transaction holds a conflicting lock. It keeps its locks until its end. With locks, the store may avoid the cost of SERIALIZABLE (see
// package crdb). With zero Locks, the transaction is SERIALIZABLE.
//
// A transaction that changes a container's blocks must name the container in Locks, or read it with FreeRead or GroupRead. These reads lock the
// container.
//
// A lock is an object's id. The object is a project, a space, or a container. A container's lock is Container.Lock.
type Locks struct {
	Exclusive []ipam.ID // exclusive locks
	Shared    []ipam.ID // shared locks

	// Busy contains the containers in Exclusive that other transactions change all the time. If the engine has only SERIALIZABLE, a long transaction on
	// such a container would never commit. On such an engine, the transaction locks the containers' version rows at its start.
	Busy []Container

	// TryShared means that the caller holds a pool's lock in this process, and other requests wait for that lock. So the transaction does not wait
	// for its Shared locks. If another transaction holds such a lock exclusively, it ends with LockBusy. If Store.RecordRegion must first record a
	// region, it ends with RegionNotRecorded. The caller then releases the pool's lock, waits, and tries again.
	TryShared bool
}

// Any reports whether there is any lock.
func (l Locks) Any() bool { return len(l.Exclusive)+len(l.Shared) > 0 }

// SameThing returns contention if the object in the transaction has another id than the locked object. The object was then deleted and created again
// meanwhile.
func SameThing(locked, found ipam.ID) error {
	if locked == found {
		return nil
	}
	return Contention(nil)
}

// Merge combines the locks for two parts of a transaction.
func (l Locks) Merge(m Locks) Locks {
	return Locks{Exclusive: slices.Concat(l.Exclusive, m.Exclusive), Shared: slices.Concat(l.Shared, m.Shared), Busy: slices.Concat(l.Busy, m.Busy), TryShared: l.TryShared || m.TryShared}
}
