package storage

import (
	"slices"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Locks is what a transaction depends on besides the rows that it writes. A transaction that names any of it waits, before it
// reads anything, until nobody else holds it in a way that excludes it; it keeps it to its end. The store may then leave out what
// SERIALIZABLE costs (see package crdb). Every transaction that changes the blocks of a container must name the container, or
// reach it by FreeRead or GroupRead, which do so. The zero Locks ask for nothing: the transaction is SERIALIZABLE.
//
// What is locked is an id of anything: containers (Container.Lock: pools in a region, and the families of spaces), projects, spaces.
type Locks struct {
	Alone  []ipam.ID // nobody else has it
	Shared []ipam.ID // nobody has it alone

	// Busy are containers, among those that it is alone with, which others change all the time: a transaction that takes long would never get to its end
	// where there is nothing but SERIALIZABLE. There it is alone with their fences from its beginning.
	Busy []Container

	// InTurn reports that other requests wait in line behind the transaction. So it does not wait for its Shared locks: if one of them is taken, the
	// transaction ends in Occupied. It ends in Unplaced if Store.Place has work to do first. The caller leaves the line, waits, and comes back.
	InTurn bool
}

// Any reports whether anything is named.
func (l Locks) Any() bool { return len(l.Alone)+len(l.Shared) > 0 }

// SameThing ends a transaction that found what it works on to be another thing of the same name than the one that it has locked: it was
// deleted and made again meanwhile.
func SameThing(locked, found ipam.ID) error {
	if locked == found {
		return nil
	}
	return Contention(nil)
}

// And is what two parts of a transaction depend on.
func (l Locks) And(m Locks) Locks {
	return Locks{Alone: slices.Concat(l.Alone, m.Alone), Shared: slices.Concat(l.Shared, m.Shared), Busy: slices.Concat(l.Busy, m.Busy), InTurn: l.InTurn || m.InTurn}
}
