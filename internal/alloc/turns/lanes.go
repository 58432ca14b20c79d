package turns

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Lanes lets at most one transaction in this process work on a container at a time. Without it, the process's own transactions would conflict with
// each other and retry. Between processes the database decides.
type Lanes struct {
	mu   sync.Mutex
	open map[ipam.ID]*lane
}

// lane is one container's lock in this process. It exists while a request has the lock or waits for it.
type lane struct {
	users int   // guarded by Lanes.mu
	turns turns // guarded by Lanes.mu
}

// NewLanes creates Lanes without locks.
func NewLanes() *Lanes { return &Lanes{open: map[ipam.ID]*lane{}} }

// Users counts the requests that have or want a container's lock.
func (l *Lanes) Users(id ipam.ID) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ln := l.open[id]; ln != nil {
		return ln.users
	}
	return 0
}

// Used counts the locked containers.
func (l *Lanes) Used() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open)
}

func (l *Lanes) leave(id ipam.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.open[id]
	if ln.users--; ln.users == 0 {
		delete(l.open, id)
	}
}

// Acquire locks all containers in order of id, and returns the function that unlocks them. It fails only when ctx ends.
func (l *Lanes) Acquire(ctx context.Context, ids ...ipam.ID) (release func(), err error) {
	return l.AcquireFor(ctx, Short, ids...)
}

// AcquireFor is Acquire with a kind of work. Between waiting requests, the lock alternates between the two kinds.
func (l *Lanes) AcquireFor(ctx context.Context, kind TurnKind, ids ...ipam.ID) (release func(), err error) {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, func(a, b ipam.ID) int { return bytes.Compare(a[:], b[:]) })
	ids = slices.Compact(ids)
	var held []func()
	release = func() {
		for _, give := range slices.Backward(held) {
			give()
		}
	}
	for _, id := range ids {
		if !l.take(ctx, id, kind) {
			release()
			return nil, storage.TurnNeverCame(ctx)
		}
		held = append(held, func() { l.give(id) })
	}
	return release, nil
}

// Try locks a container if it is unlocked.
func (l *Lanes) Try(id ipam.ID) (release func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[id] != nil {
		return nil, false
	}
	ln := &lane{users: 1}
	ln.turns.ask(Short)
	l.open[id] = ln
	return func() { l.give(id) }, true
}

// take waits for a container's lock. It returns false if ctx ends first.
func (l *Lanes) take(ctx context.Context, id ipam.ID, kind TurnKind) bool {
	l.mu.Lock()
	ln := l.open[id]
	if ln == nil {
		ln = &lane{}
		l.open[id] = ln
	}
	ln.users++
	mine := ln.turns.ask(kind)
	l.mu.Unlock()
	select {
	case <-mine.come:
		return true
	case <-ctx.Done():
	}
	l.mu.Lock()
	gone := ln.turns.withdraw(mine)
	l.mu.Unlock()
	if !gone { // the lock arrived just now
		l.give(id)
		return false
	}
	l.leave(id)
	return false
}

// give passes a container's lock to the next request.
func (l *Lanes) give(id ipam.ID) {
	l.mu.Lock()
	l.open[id].turns.pass()
	l.mu.Unlock()
	l.leave(id)
}
