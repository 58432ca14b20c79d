package usecase

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Wakes lets those who wait for changes of a project know when this process has made one. Where nobody waits it costs a look at a number.
type Wakes struct {
	waiting atomic.Int64
	mu      sync.Mutex
	wake    map[ipam.ID]*func()
}

// Watch has wake called after every change of a project, until stop is called or another is to be called. wake must not block.
func (w *Wakes) Watch(project ipam.ID, wake func()) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wake == nil {
		w.wake = map[ipam.ID]*func(){}
	}
	mine := &wake
	w.wake[project] = mine
	w.waiting.Add(1)
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.wake[project] == mine { // or else another watches by now
			delete(w.wake, project)
		}
		w.waiting.Add(-1)
	})
}

// wrote is the projects in whose trails a transaction records.
type wrote struct{ projects []ipam.ID }

// begin answers what notes the projects of a transaction; nil: nobody waits.
func (w *Wakes) begin() *wrote {
	if w.waiting.Load() == 0 {
		return nil
	}
	return &wrote{}
}

func (w *wrote) note(events []ipam.Event) {
	if w == nil {
		return
	}
	for i := range events {
		if id := events[i].ProjectID; !slices.Contains(w.projects, id) {
			w.projects = append(w.projects, id)
		}
	}
}

// end tells of what a transaction has committed.
func (w *Wakes) end(did *wrote) {
	if did == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range did.projects {
		if wake := w.wake[id]; wake != nil {
			(*wake)()
		}
	}
}
