package turns

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Lanes let at most one transaction of this process work on a container at a time. Transactions of one process would
// otherwise only conflict with each other and be run again; across processes the database decides.
type Lanes struct {
	mu   sync.Mutex
	open map[ipam.ID]*lane
}

// lane is one container's. It exists while somebody holds its turn or waits for it.
type lane struct {
	users int   // guarded by lanes.mu
	turns turns // guarded by lanes.mu
}

// NewLanes makes lanes that nobody uses yet.
func NewLanes() *Lanes { return &Lanes{open: map[ipam.ID]*lane{}} }

// Users is how many hold a container's turn or wait for it.
func (l *Lanes) Users(id ipam.ID) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ln := l.open[id]; ln != nil {
		return ln.users
	}
	return 0
}

// Used is of how many containers somebody holds the turn.
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

// Acquire takes the turns of all containers, in order of id, and answers how to give them back. It fails only when ctx ends.
func (l *Lanes) Acquire(ctx context.Context, ids ...ipam.ID) (release func(), err error) {
	return l.AcquireFor(ctx, Short, ids...)
}

// AcquireFor is acquire for work of some kind: of those who wait, batches and the others take turns.
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

// Try takes a container's turn if nobody has it.
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

// take waits for a container's turn; false when ctx has ended before it came.
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
	if !gone { // it came just now
		l.give(id)
		return false
	}
	l.leave(id)
	return false
}

// give hands a container's turn to the next.
func (l *Lanes) give(id ipam.ID) {
	l.mu.Lock()
	l.open[id].turns.pass()
	l.mu.Unlock()
	l.leave(id)
}
