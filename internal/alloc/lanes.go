package alloc

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// defaultWaiting is how many members may wait in one lane: sixteen full groups.
const defaultWaiting = 16 * maxGroup

// lanes let at most one transaction of this process work on a container at a time. Transactions of one process would
// otherwise only conflict with each other and be run again; across processes the database decides.
type lanes struct {
	waiting int // members that may wait in one lane
	mu      sync.Mutex
	open    map[ipam.ID]*lane
	refused int64 // members that found a lane full; guarded by mu
}

// lane is one container's queue. It exists while somebody holds it, waits for it, or has members pending.
type lane struct {
	users   int       // guarded by lanes.mu
	turns   turns     // guarded by lanes.mu
	pending []*member // guarded by lanes.mu
	led     bool      // a leader is collecting; guarded by lanes.mu
}

// newLanes makes lanes in each of which so many members may wait; 0: as many as by default.
func newLanes(waiting int) *lanes {
	if waiting <= 0 {
		waiting = defaultWaiting
	}
	return &lanes{waiting: waiting, open: map[ipam.ID]*lane{}}
}

func (l *lanes) useLocked(id ipam.ID) *lane {
	ln := l.open[id]
	if ln == nil {
		ln = &lane{}
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
	return l.acquireFor(ctx, short, ids...)
}

// acquireFor is acquire for work of some kind: of those who wait, batches and the others take turns.
func (l *lanes) acquireFor(ctx context.Context, kind turnKind, ids ...ipam.ID) (release func(), err error) {
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
			return nil, turnNeverCame(ctx)
		}
		held = append(held, func() { l.give(id) })
	}
	return release, nil
}

// take waits for a container's turn; false when ctx has ended before it came.
func (l *lanes) take(ctx context.Context, id ipam.ID, kind turnKind) bool {
	l.mu.Lock()
	ln := l.useLocked(id)
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
func (l *lanes) give(id ipam.ID) {
	l.mu.Lock()
	l.open[id].turns.pass()
	l.mu.Unlock()
	l.leave(id)
}

// enqueue adds a member to a container's next group; lead is true when the caller has to start the leader. It refuses when as many wait
// as may: whoever comes last would be served after its time, and would keep everybody behind it waiting as well.
func (l *lanes) enqueue(id ipam.ID, m *member) (lead bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.open[id]
	if ln != nil && len(ln.pending) >= l.waiting {
		l.refused++
		return false, laneFull()
	}
	if lead = ln == nil || !ln.led; lead {
		ln = l.useLocked(id)
		ln.led = true
	}
	ln.pending = append(ln.pending, m)
	return lead, nil
}

func laneFull() error {
	e := ipam.Errorf(ipam.CodeContention, "Too many requests wait for the same pool. Nothing was changed; repeat the request when Retry-After has passed.").
		Because(ipam.ErrShed)
	e.RetryAfter = time.Second
	return e
}

// shed reports whether a request was refused for want of a place: nothing was decided about it, and nothing is to be looked up for it.
func shed(err error) bool { return errors.Is(err, ipam.ErrShed) }

// turnNeverCame is the answer to who waited for a turn until its time was up, or it went away.
func turnNeverCame(ctx context.Context) error {
	return ipam.Errorf(ipam.CodeDeadline, "The request waited too long for its turn. Nothing was changed; repeat the request.").Because(ctx.Err())
}

// withdraw takes back a member that still waits, and its place with it; false when a leader has it already.
func (l *lanes) withdraw(id ipam.ID, m *member) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.open[id]
	if ln == nil {
		return false
	}
	i := slices.Index(ln.pending, m)
	if i >= 0 {
		ln.pending = slices.Delete(ln.pending, i, i+1)
	}
	return i >= 0
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
	members := slices.Clone(ln.pending[:n])
	ln.pending = slices.Delete(ln.pending, 0, n)
	return members
}

// Queues is what waits for the turns of pools.
type Queues struct {
	Waiting int64 // claims and releases
	Longest int64 // of them for the same pool, the one for which most wait
	Refused int64 // that found as many waiting as may, since the start
}

// Queues says how many claims and releases wait.
func (s *Service) Queues() Queues {
	l := s.lanes
	l.mu.Lock()
	defer l.mu.Unlock()
	q := Queues{Refused: l.refused}
	for _, ln := range l.open {
		n := int64(len(ln.pending))
		q.Waiting += n
		q.Longest = max(q.Longest, n)
	}
	return q
}
