package locks

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// FairSemaphore limits the concurrent work of one kind, in total and for each project. If no slot is free, a request waits. The next slot goes to the
// waiting project that has the fewest slots. One project's requests get slots in arrival order. The limits are for this process. They are smaller
// than its database connection pool, so slow work does not block fast work.
type FairSemaphore struct {
	limit, projectLimit int // the limits for the slots, in total and for one project
	waitingLimit        int // the limit for one project's waiting requests

	mu      sync.Mutex
	busy    int
	held    map[ipam.ID]int // the slots in use, by project; without zeros
	waiting []*waiter       // in arrival order
}

type waiter struct {
	project ipam.ID
	granted chan struct{}
}

// NewFairSemaphore creates a semaphore. limit is the total number of slots, perProject is the number of slots for one project, and maxWaiting is the
// number of requests from one project that may wait.
func NewFairSemaphore(limit, perProject, maxWaiting int) *FairSemaphore {
	return &FairSemaphore{limit: limit, projectLimit: min(perProject, limit), waitingLimit: maxWaiting, held: map[ipam.ID]int{}}
}

// AcquireForWork acquires a slot for expensive work. It refuses the request if other requests have used up its budget in the meantime. Without this
// check, many requests that began together could all do such work.
func (p *FairSemaphore) AcquireForWork(ctx context.Context, project ipam.ID) (leave func(), err error) {
	if leave, err = p.Acquire(ctx, project); err != nil {
		return nil, err
	}
	if err = tenancy.BudgetOf(ctx).Recheck(); err != nil {
		leave()
		return nil, err
	}
	return leave, nil
}

// Acquire takes a slot for a project, and returns the function that returns the slot. It refuses the request if too many of the project's requests
// already wait. If ctx ends, it fails.
func (p *FairSemaphore) Acquire(ctx context.Context, project ipam.ID) (leave func(), err error) {
	p.mu.Lock()
	if p.hasSlot(project) {
		p.take(project)
		p.mu.Unlock()
		return func() { p.release(project) }, nil
	}
	mine := &waiter{project: project, granted: make(chan struct{})}
	others := 0
	for _, w := range p.waiting {
		if w.project == project {
			others++
		}
	}
	if others >= p.waitingLimit {
		p.mu.Unlock()
		e := ipam.Errorf(ipam.CodeRateLimited,
			"Too many requests at once: %d requests of this project already wait for a free slot. Nothing was changed; repeat the request when Retry-After has passed.", others).
			WithCause(ipam.ErrShed)
		e.RetryAfter = time.Second
		return nil, e
	}
	p.waiting = append(p.waiting, mine)
	p.mu.Unlock()
	select {
	case <-mine.granted:
		return func() { p.release(project) }, nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	at := slices.Index(p.waiting, mine)
	if at >= 0 {
		p.waiting = slices.Delete(p.waiting, at, at+1)
	}
	p.mu.Unlock()
	if at < 0 { // the request has just got a slot
		p.release(project)
	}
	return nil, storage.LockTimeout(ctx)
}

// Queued counts the waiting requests.
func (p *FairSemaphore) Queued() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.waiting)
}

// hasSlot reports whether a slot is free for a project. Background work has the zero project, so only the total limits it.
func (p *FairSemaphore) hasSlot(project ipam.ID) bool {
	return p.busy < p.limit && (project.IsZero() || p.held[project] < p.projectLimit)
}

func (p *FairSemaphore) take(project ipam.ID) {
	p.busy++
	p.held[project]++
}

// release returns a slot, and gives free slots to waiting requests.
func (p *FairSemaphore) release(project ipam.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy--
	if p.held[project]--; p.held[project] == 0 {
		delete(p.held, project)
	}
	for {
		next := -1
		for i, w := range p.waiting {
			if p.hasSlot(w.project) && (next < 0 || p.held[w.project] < p.held[p.waiting[next].project]) {
				next = i
			}
		}
		if next < 0 {
			return
		}
		w := p.waiting[next]
		p.waiting = slices.Delete(p.waiting, next, next+1)
		p.take(w.project)
		close(w.granted)
	}
}

// These limits are for slow work on 16 database connections. They limit the slots in total, one project's slots, and one project's waiting requests.
const (
	MaxSearches           = 4 // lists with a filter that matches few rows
	MaxSearchesPerProject = 2
	MaxBatches            = 6
	MaxBatchesPerProject  = 2
	MaxWaitingPerProject  = 256
)
