package alloc

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/carve-ipam/carve/internal/ipam"
)

// lanes let at most one transaction of this process work on a container at a time. Transactions of one process would
// otherwise only conflict with each other and be run again; across processes the database decides.
type lanes struct {
	mu   sync.Mutex
	open map[ipam.ID]*lane
}

// lane is one container's queue. It exists while somebody holds it, waits for it, or has members pending.
type lane struct {
	users   int           // guarded by lanes.mu
	turn    chan struct{} // holds one token when nobody works
	pending []*member     // guarded by lanes.mu
	led     bool          // a leader is collecting; guarded by lanes.mu
}

func newLanes() *lanes { return &lanes{open: map[ipam.ID]*lane{}} }

func (l *lanes) use(id ipam.ID) *lane {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.useLocked(id)
}

func (l *lanes) useLocked(id ipam.ID) *lane {
	ln := l.open[id]
	if ln == nil {
		ln = &lane{turn: make(chan struct{}, 1)}
		ln.turn <- struct{}{}
		l.open[id] = ln
	}
	ln.users++
	return ln
}

func (l *lanes) leave(id ipam.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.open[id]
	if ln.users--; ln.users == 0 {
		delete(l.open, id)
	}
}

// acquire takes the turns of all containers, in order of id, and answers how to give them back. It fails only when ctx ends.
func (l *lanes) acquire(ctx context.Context, ids ...ipam.ID) (release func(), err error) {
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
		ln := l.use(id)
		select {
		case <-ln.turn:
			held = append(held, func() { ln.turn <- struct{}{}; l.leave(id) })
		case <-ctx.Done():
			l.leave(id)
			release()
			return nil, ipam.Errorf(ipam.CodeDeadline, "The request waited too long for its turn. Nothing was changed; repeat the request.").Because(ctx.Err())
		}
	}
	return release, nil
}

// enqueue adds a member to a container's next group; lead is true when the caller has to start the leader.
func (l *lanes) enqueue(id ipam.ID, m *member) (lead bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.open[id]
	if lead = ln == nil || !ln.led; lead {
		ln = l.useLocked(id)
		ln.led = true
	}
	ln.pending = append(ln.pending, m)
	return lead
}

// dequeue takes up to n members. None left ends the leader: whoever comes next starts a new one.
func (l *lanes) dequeue(id ipam.ID, n int) []*member {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.open[id]
	if len(ln.pending) == 0 {
		ln.led = false
		if ln.users--; ln.users == 0 {
			delete(l.open, id)
		}
		return nil
	}
	n = min(n, len(ln.pending))
	members := ln.pending[:n:n]
	ln.pending = append([]*member(nil), ln.pending[n:]...)
	return members
}
