package usecase

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Notifier notifies a project's watchers after this process has changed the project. Without watchers, a transaction only reads a counter.
type Notifier struct {
	waiting   atomic.Int64
	mu        sync.Mutex
	callbacks map[ipam.ID]*func()
}

// Watch calls callback after every change in a project. It ends when the caller calls stop, or another Watch for the project replaces it. callback
// must not block.
func (w *Notifier) Watch(project ipam.ID, callback func()) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.callbacks == nil {
		w.callbacks = map[ipam.ID]*func(){}
	}
	mine := &callback
	w.callbacks[project] = mine
	w.waiting.Add(1)
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.callbacks[project] == mine { // false if a later Watch has replaced this one
			delete(w.callbacks, project)
		}
		w.waiting.Add(-1)
	})
}

// changedProjects collects the projects whose events a transaction records.
type changedProjects struct{ projects []ipam.ID }

// begin returns the collector for a transaction. If there are no watchers, it returns nil.
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

// end notifies the watchers for the projects that a committed transaction has changed.
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
