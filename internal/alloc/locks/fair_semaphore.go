package locks

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// FairSemaphore limits the concurrent work of one kind, in total and for each project. A request without a free slot waits. The project with the fewest
// slots comes first; within a project, requests get slots in their order of arrival. The limits are for this process and below the size of its database
// connection pool, so that slow work does not block fast work.
type FairSemaphore struct {
	limit, projectLimit int // slots in total, and for one project
	waitingLimit        int // limit for one project's waiting requests

	mu      sync.Mutex
	busy    int
	held    map[ipam.ID]int // slots in use, by project; without zeros
	waiting []*waiter       // in order of arrival
}

type waiter struct {
	project ipam.ID
	granted chan struct{}
}

// NewFairSemaphore creates slots with the limits in total and for each project. At most patient requests of one project may wait.
func NewFairSemaphore(most, each, patient int) *FairSemaphore {
	return &FairSemaphore{limit: most, projectLimit: min(each, most), waitingLimit: patient, held: map[ipam.ID]int{}}
}

// Acquire takes a slot for a project and returns the function that gives it back. It refuses the request if too many of the project already wait, and
// fails when ctx ends.
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
	if at < 0 { // the slot arrived just now
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

// hasSlot reports whether a slot is free for a project. Background work has the zero project, and only the total limits it.
func (p *FairSemaphore) hasSlot(project ipam.ID) bool {
	return p.busy < p.limit && (project.IsZero() || p.held[project] < p.projectLimit)
}

func (p *FairSemaphore) take(project ipam.ID) {
	p.busy++
	p.held[project]++
}

// release gives a slot back, and gives free slots to waiting requests.
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

// Limits for slow work, with 16 database connections: slots in total, slots for one project, and waiting requests of one project.
const (
	MaxSearches           = 4 // lists with a filter that matches few rows
	MaxSearchesPerProject = 2
	MaxBatches            = 6
	MaxBatchesPerProject  = 2
	MaxWaitingPerProject  = 256
)
