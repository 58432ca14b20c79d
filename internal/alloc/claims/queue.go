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

// defaultWaiting is the default limit for the members that wait for one pool. It is sixteen full groups.
const defaultWaiting = 16 * usecase.MaxGroup

// Queue contains the members that wait for their pool's next group. A member is a claim to bind or to release.
type Queue struct {
	limit   int // limit for the members that wait for one pool
	mu      sync.Mutex
	pending map[ipam.ID][]*member // by the pool's lock; a pool with an entry is ready, or a worker serves it
	ready   []ipam.Pool           // the pools that wait for a worker, in arrival order
	workers int                   // the number of running shared workers
	refused int64                 // the number of members refused because of a full queue
}

// NewQueue creates a queue. limit is the maximum number of members that wait for one pool. 0 means the default.
func NewQueue(limit int) *Queue {
	if limit <= 0 {
		limit = defaultWaiting
	}
	return &Queue{limit: limit, pending: map[ipam.ID][]*member{}}
}

// maxWorkers limits the shared workers. A shared worker serves many pools in one transaction. If all shared workers are busy, the pools that become
// ready wait and share the next transaction.
var maxWorkers = max(2, runtime.GOMAXPROCS(0))

// add puts a member into its pool's next group. mustStart means that the caller must start a worker. If shared is true, it is a shared worker.
// Otherwise it is a worker for this pool only, because needsOwn returned true.
//
// If the queue is full, add refuses the member. Otherwise the member would be served after its deadline, and would delay all members behind it.
func (q *Queue) add(pool ipam.Pool, m *member, needsOwn func(pool ipam.Pool, lock ipam.ID) bool) (mustStart, shared bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	pending, known := q.pending[m.lock]
	if len(pending) >= q.limit {
		q.refused++
		return false, false, queueFull()
	}
	if q.pending[m.lock] = append(pending, m); known || needsOwn(pool, m.lock) {
		return !known, false, nil
	}
	q.ready = append(q.ready, pool)
	if q.workers == maxWorkers {
		return false, false, nil
	}
	q.workers++
	return true, true, nil
}

// next returns the pools that have been ready for the longest time, with their members. One worker serves them. If no pool is ready, next returns
// nil, and the worker must end.
func (q *Queue) next() (groups []*poolGroup) {
	q.mu.Lock()
	defer q.mu.Unlock()
	members := 0
	for len(q.ready) > 0 && len(groups) < usecase.MaxPools && members < usecase.MaxGroup {
		l := &poolGroup{pool: q.ready[0], lock: storage.PoolContainer(q.ready[0]).Lock()}
		q.ready[0] = ipam.Pool{} // drop the reference without moving the other entries
		q.ready = q.ready[1:]
		l.members = q.collect(l.lock, usecase.MaxGroup-members)
		members += len(l.members)
		groups = append(groups, l)
	}
	if groups == nil {
		q.workers--
	}
	return groups
}

// giveBack returns a pool to the queue after its transaction. If members wait for the pool, it becomes ready again.
func (q *Queue) giveBack(l *poolGroup) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.pending[l.lock]) == 0 {
		delete(q.pending, l.lock)
		return
	}
	q.ready = append(q.ready, l.pool)
}

func queueFull() error {
	e := ipam.Errorf(ipam.CodeContention, "Too many requests wait for the same pool. Nothing was changed; repeat the request when Retry-After has passed.").
		WithCause(ipam.ErrShed)
	e.RetryAfter = time.Second
	return e
}

// withdraw removes a member that still waits. If a worker has already taken the member, withdraw returns false.
func (q *Queue) withdraw(id ipam.ID, m *member) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.pending[id], m)
	if i >= 0 {
		q.pending[id] = slices.Delete(q.pending[id], i, i+1)
	}
	return i >= 0
}

// take removes up to n of a pool's members from the queue and returns them. If no member is left, the pool's own worker must end. The next member
// then makes the pool ready.
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

// Queues contains figures about all pools' queues.
type Queues struct {
	Waiting int64 // claims and releases that wait
	Longest int64 // length of the longest queue
	Refused int64 // refusals because of a full queue, since the start
}

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

// Members counts the members that wait for a pool's next group.
func (q *Queue) Members(id ipam.ID) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.pending[id])
}

// HasWorker reports whether a pool is ready or a worker serves it.
func (q *Queue) HasWorker(id ipam.ID) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, led := q.pending[id]
	return led
}

// Pools counts the pools that are ready, and the pools that a worker serves.
func (q *Queue) Pools() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.pending)
}

// SetLimit sets the limit for the members that wait for one pool.
func (q *Queue) SetLimit(limit int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.limit = limit
}
