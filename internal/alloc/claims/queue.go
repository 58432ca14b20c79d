package claims

import (
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// defaultWaiting is how many members may wait for one pool: sixteen full groups.
const defaultWaiting = 16 * usecase.MaxGroup

// Queue holds the members that wait for the next group of their pool.
type Queue struct {
	most     int // members that may wait for one pool
	mu       sync.Mutex
	pending  map[ipam.ID][]*member // by what stands for the pool in locks; a pool that is in it is ready, or somebody serves it
	ready    []ipam.Pool           // that wait for a carrier, in the order in which they came
	carriers int                   // that are at work
	refused  int64                 // members that found as many waiting as may
}

// NewQueue makes a queue in which so many members may wait for each pool; 0: as many as by default.
func NewQueue(most int) *Queue {
	if most <= 0 {
		most = defaultWaiting
	}
	return &Queue{most: most, pending: map[ipam.ID][]*member{}}
}

// mostCarriers is how many transactions of many pools one process has under way at once. While all are, the pools that become ready wait, and go together.
var mostCarriers = max(2, runtime.GOMAXPROCS(0))

// add puts a member into its pool's next group; first is true when nobody serves the pool yet, and then carry when the caller has to start a carrier, and not
// one that serves the pool alone, as alone decides when that is the question. It refuses when as many wait
// as may: whoever comes last would be served after its time, and would keep everybody behind it waiting as well.
func (q *Queue) add(pool ipam.Pool, m *member, alone func(pool ipam.Pool, lane ipam.ID) bool) (first, carry bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	pending, known := q.pending[m.lane]
	if len(pending) >= q.most {
		q.refused++
		return false, false, queueFull()
	}
	if q.pending[m.lane] = append(pending, m); known || alone(pool, m.lane) {
		return !known, false, nil
	}
	q.ready = append(q.ready, pool)
	if q.carriers == mostCarriers {
		return false, false, nil
	}
	q.carriers++
	return true, true, nil
}

// next takes the pools that a carrier serves next, and their members: those that have been ready longest. None left ends the carrier.
func (q *Queue) next() (loads []*load) {
	q.mu.Lock()
	defer q.mu.Unlock()
	members := 0
	for len(q.ready) > 0 && len(loads) < usecase.MaxPools && members < usecase.MaxGroup {
		l := &load{pool: q.ready[0], lane: storage.PoolContainer(q.ready[0]).Lock()}
		q.ready[0] = ipam.Pool{} // none of the others is moved, however many there are
		q.ready = q.ready[1:]
		l.members = q.collect(l.lane, usecase.MaxGroup-members)
		members += len(l.members)
		loads = append(loads, l)
	}
	if loads == nil {
		q.carriers--
	}
	return loads
}

// served gives a pool back: to the carriers, if somebody waits for it by now.
func (q *Queue) served(l *load) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.pending[l.lane]) == 0 {
		delete(q.pending, l.lane)
		return
	}
	q.ready = append(q.ready, l.pool)
}

func queueFull() error {
	e := ipam.Errorf(ipam.CodeContention, "Too many requests wait for the same pool. Nothing was changed; repeat the request when Retry-After has passed.").
		Because(ipam.ErrShed)
	e.RetryAfter = time.Second
	return e
}

// withdraw takes back a member that still waits, and its place with it; false when a leader has it already.
func (q *Queue) withdraw(id ipam.ID, m *member) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.pending[id], m)
	if i >= 0 {
		q.pending[id] = slices.Delete(q.pending[id], i, i+1)
	}
	return i >= 0
}

// take takes up to n members of a pool. None left ends who serves it alone: whoever comes next makes it ready.
func (q *Queue) take(id ipam.ID, n int) []*member {
	q.mu.Lock()
	defer q.mu.Unlock()
	members := q.collect(id, n)
	if len(members) == 0 {
		delete(q.pending, id)
	}
	return members
}

func (q *Queue) collect(id ipam.ID, n int) []*member {
	pending := q.pending[id]
	n = min(n, len(pending))
	members := slices.Clone(pending[:n])
	q.pending[id] = slices.Delete(pending, 0, n)
	return members
}

// Queues is what waits for the turns of pools.
type Queues struct {
	Waiting int64 // claims and releases
	Longest int64 // of them for the same pool, the one for which most wait
	Refused int64 // that found as many waiting as may, since the start
}

// queues says how many claims and releases wait.
func (q *Queue) queues() Queues {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := Queues{Refused: q.refused}
	for _, pending := range q.pending {
		n := int64(len(pending))
		out.Waiting += n
		out.Longest = max(out.Longest, n)
	}
	return out
}

// Members is how many wait for a pool's next group.
func (q *Queue) Members(id ipam.ID) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.pending[id])
}

// Led is whether a pool is ready, or somebody serves it.
func (q *Queue) Led(id ipam.ID) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, led := q.pending[id]
	return led
}

// Pools is how many of them there are.
func (q *Queue) Pools() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.pending)
}

// Bound sets how many may wait for one pool from now on.
func (q *Queue) Bound(most int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.most = most
}
