package turns

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Places bounds how much of one kind of work goes on at once, in all and for each project. Whoever finds no place waits for one, the project that has the
// fewest first; of one project, in the order in which they came. It is bounds of this process, smaller than the pool of connections to the
// database: what takes long must not keep out what does not.
type Places struct {
	most, each int // in all, and of one project
	patient    int // of one project, that may wait

	mu      sync.Mutex
	busy    int
	held    map[ipam.ID]int // by project; who has none is not in it
	waiting []*waiting      // in the order in which they came
}

type waiting struct {
	project ipam.ID
	come    chan struct{}
}

// NewPlaces makes so many places in all and for each project; so many of one project may wait.
func NewPlaces(most, each, patient int) *Places {
	return &Places{most: most, each: min(each, most), patient: patient, held: map[ipam.ID]int{}}
}

// Enter takes a place for a project, which leave gives back. It is refused when as many of the project wait as may, and fails when ctx ends.
func (p *Places) Enter(ctx context.Context, project ipam.ID) (leave func(), err error) {
	p.mu.Lock()
	if p.room(project) {
		p.take(project)
		p.mu.Unlock()
		return func() { p.leave(project) }, nil
	}
	mine := &waiting{project: project, come: make(chan struct{})}
	others := 0
	for _, w := range p.waiting {
		if w.project == project {
			others++
		}
	}
	if others >= p.patient {
		p.mu.Unlock()
		e := ipam.Errorf(ipam.CodeRateLimited,
			"Too many requests at once: %d of this project wait for others of the same kind. Nothing was changed; repeat the request when Retry-After has passed.", others).
			Because(ipam.ErrShed)
		e.RetryAfter = time.Second
		return nil, e
	}
	p.waiting = append(p.waiting, mine)
	p.mu.Unlock()
	select {
	case <-mine.come:
		return func() { p.leave(project) }, nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	at := slices.Index(p.waiting, mine)
	if at >= 0 {
		p.waiting = slices.Delete(p.waiting, at, at+1)
	}
	p.mu.Unlock()
	if at < 0 { // it came just now
		p.leave(project)
	}
	return nil, storage.TurnNeverCame(ctx)
}

// Queued is how many wait for a place.
func (p *Places) Queued() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.waiting)
}

// room reports whether there is a place for a project. Background work is for no project: only the number of all places bounds it.
func (p *Places) room(project ipam.ID) bool {
	return p.busy < p.most && (project.IsZero() || p.held[project] < p.each)
}

func (p *Places) take(project ipam.ID) {
	p.busy++
	p.held[project]++
}

// leave gives a place back, and those that are free to whoever may have them.
func (p *Places) leave(project ipam.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy--
	if p.held[project]--; p.held[project] == 0 {
		delete(p.held, project)
	}
	for {
		next := -1
		for i, w := range p.waiting {
			if p.room(w.project) && (next < 0 || p.held[w.project] < p.held[p.waiting[next].project]) {
				next = i
			}
		}
		if next < 0 {
			return
		}
		w := p.waiting[next]
		p.waiting = slices.Delete(p.waiting, next, next+1)
		p.take(w.project)
		close(w.come)
	}
}

// The places of what takes long, of 16 connections to the database: in all, of one project, and how many of one project may wait.
const (
	SearchesAtOnce = 4 // lists that look for what few rows match
	SearchesOfOne  = 2
	BatchesAtOnce  = 6
	BatchesOfOne   = 2
	PatientOfOne   = 256
)
