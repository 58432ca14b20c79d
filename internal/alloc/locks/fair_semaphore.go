package locks

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// FairSemaphore limits the concurrent work of one kind, in total and for each project. If no slot is free, a request waits. The next slot goes to the
// waiting project that has the fewest slots. Requests of one project get slots in the order of their arrival. The limits are for this process. They
// are smaller than its database connection pool, so that slow work does not block fast work.
type FairSemaphore struct {
	limit, projectLimit int // the limits for the slots in total, and for one project
	waitingLimit        int // the limit for the waiting requests of one project

	mu      sync.Mutex
	busy    int
	held    map[ipam.ID]int // the slots in use, by project; without zeros
	waiting []*waiter       // in the order of arrival
}

type waiter struct {
	project ipam.ID
	granted chan struct{}
}

// NewFairSemaphore creates a semaphore with most slots in total, and each slots for one project. At most patient requests of one project may wait.
func NewFairSemaphore(most, each, patient int) *FairSemaphore {
	return &FairSemaphore{limit: most, projectLimit: min(each, most), waitingLimit: patient, held: map[ipam.ID]int{}}
}

// Acquire takes a slot for a project, and returns the function that returns the slot. If too many requests of the project already wait, it refuses
// the request. If ctx ends, it fails.
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
			Because(ipam.ErrShed)
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

// hasSlot reports whether a slot is free for a project. Background work has the zero project, so only the total number limits it.
func (p *FairSemaphore) hasSlot(project ipam.ID) bool {
	return p.busy < p.limit && (project.IsZero() || p.held[project] < p.projectLimit)
}

func (p *FairSemaphore) take(project ipam.ID) {
	p.busy++
	p.held[project]++
}

// release returns a slot, and gives the free slots to waiting requests.
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

// Limits for slow work, chosen for 16 database connections. They limit the slots in total, the slots of one project, and the waiting requests of one
// project.
const (
	MaxSearches           = 4 // lists whose filter matches few of the rows that they read
	MaxSearchesPerProject = 2
	MaxBatches            = 6
	MaxBatchesPerProject  = 2
	MaxWaitingPerProject  = 256
)
