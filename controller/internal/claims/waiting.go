package claims

import (
	"container/list"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// waiting is a queue of claims that found no room, ordered by their first refusal.
type waiting struct {
	mu    sync.Mutex
	names list.List
	at    map[types.NamespacedName]*list.Element
}

// add appends a claim, unless the queue has it.
func (w *waiting) add(name types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.at == nil {
		w.at = map[types.NamespacedName]*list.Element{}
	}
	if w.at[name] == nil {
		w.at[name] = w.names.PushBack(name)
	}
}

// remove removes a claim. A claim that is refused later goes to the end.
func (w *waiting) remove(name types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at := w.at[name]; at != nil {
		w.names.Remove(at)
		delete(w.at, name)
	}
}

// take removes the first claims from the queue and returns them. A claim that is refused again goes to the end.
func (w *waiting) take(most int) (first []types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for front := w.names.Front(); front != nil && len(first) < most; front = w.names.Front() {
		name, _ := w.names.Remove(front).(types.NamespacedName)
		delete(w.at, name)
		first = append(first, name)
	}
	return first
}
