package usecase

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Notifier notifies watchers of a project after this process has changed it. Without watchers, a transaction costs one read of a counter.
type Notifier struct {
	waiting   atomic.Int64
	mu        sync.Mutex
	callbacks map[ipam.ID]*func()
}

// Watch calls wake after every change in a project, until stop is called or another Watch for the project replaces it. wake must not block.
func (w *Notifier) Watch(project ipam.ID, wake func()) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.callbacks == nil {
		w.callbacks = map[ipam.ID]*func(){}
	}
	mine := &wake
	w.callbacks[project] = mine
	w.waiting.Add(1)
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.callbacks[project] == mine { // otherwise a later Watch has replaced this one
			delete(w.callbacks, project)
		}
		w.waiting.Add(-1)
	})
}

// changedProjects collects the projects for which a transaction records events.
type changedProjects struct{ projects []ipam.ID }

// begin returns the collector for a transaction, or nil if none waits.
func (w *Notifier) begin() *changedProjects {
	if w.waiting.Load() == 0 {
		return nil
	}
	return &changedProjects{}
}

func (w *changedProjects) note(events []ipam.Event) {
	if w == nil {
		return
	}
	for i := range events {
		if id := events[i].ProjectID; !slices.Contains(w.projects, id) {
			w.projects = append(w.projects, id)
		}
	}
}

// end notifies the watchers of a committed transaction's projects.
func (w *Notifier) end(did *changedProjects) {
	if did == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range did.projects {
		if wake := w.callbacks[id]; wake != nil {
			(*wake)()
		}
	}
}
