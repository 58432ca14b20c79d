package follow

import (
	"context"
	"fmt"
	"iter"

	"github.com/carve-ipam/carve/client"
)

// EventType is an event's type.
type EventType string

const (
	// Put means that the object was created or changed. The event has its new state.
	Put EventType = "Put"
	// Delete means that the object was deleted, or that it no longer matches the source.
	Delete EventType = "Delete"
	// Synced means that the caller has received every listed object.
	Synced EventType = "Synced"
)

// Event is one step of a watch.
type Event[T any] struct {
	Type   EventType
	Name   string // the object's name; empty for Synced
	Object *T     // set for Put; nil otherwise
}

// Watch yields a Put for each existing object, then Synced, and then the changes. It may yield an object again without a change and may skip
// intermediate states. The last event of an object has its current state.
//
// An error comes with a zero event. After a temporary error (no connection, a busy server) the watch continues at the same point, with growing pauses
// of at most 30 s. A permanent refusal (no permission, no such project) is the last element. If the context ends, the watch ends without an error.
//
// If the cursor is too old, the watch lists the objects again. It yields a Delete for each object that no longer exists, and then Synced again.
func (s Source[T]) Watch(ctx context.Context) iter.Seq2[Event[T], error] {
	return func(yield func(Event[T], error) bool) {
		w := watch[T]{Source: s, ctx: ctx, yield: yield, known: map[string]struct{}{}}
		for w.tell(w.listAndFollow()) {
		}
	}
}

// watch is a running Watch.
type watch[T any] struct {
	Source[T]
	ctx   context.Context
	yield func(Event[T], error) bool
	known map[string]struct{} // the names of the objects for which the last event was a Put
	ended bool                // the caller has left its loop, or a permanent refusal was yielded
	patience
}

// tell yields an error, pauses, and reports whether the watch continues. It does not yield an expired cursor, because the watch then lists the
// objects again at once.
func (w *watch[T]) tell(err error) bool {
	if w.ended || w.ctx.Err() != nil {
		return false
	}
	if err == nil || client.CodeOf(err) == client.ProblemCodeCursorExpired {
		w.failed = 0
		return true
	}
	return w.yield(Event[T]{}, err) && !Stays(err) && w.wait(w.ctx)
}

// put yields an event and reports whether the loop continues. If the caller has received no Put for a name, put drops the name's Delete.
func (w *watch[T]) put(e Event[T]) bool {
	switch e.Type {
	case Put:
		w.known[e.Name] = struct{}{}
	case Delete:
		if _, told := w.known[e.Name]; !told {
			return true
		}
		delete(w.known, e.Name)
	case Synced:
	}
	w.ended = w.ended || !w.yield(e, nil)
	return !w.ended
}

// listAndFollow lists the objects and then follows their changes until the cursor is too old or the watch ends. It returns the list's errors. It
// yields the change feed's errors itself and continues.
func (w *watch[T]) listAndFollow() error {
	cursor, err := w.relist()
	if err != nil || w.ended {
		return err
	}
	w.failed = 0
	for changes, err := range Changes(w.ctx, cursor, w.changes) {
		if client.CodeOf(err) == client.ProblemCodeCursorExpired {
			return err
		}
		if err != nil {
			if w.ended = !w.yield(Event[T]{}, err) || Stays(err); w.ended {
				return nil
			}
			continue
		}
		for _, c := range changes.Items {
			e, err := w.event(c)
			if err != nil {
				return fmt.Errorf("follow: the %s %q cannot be read: %w", c.Kind, c.Name, err)
			}
			if !w.put(e) {
				return nil
			}
		}
	}
	return nil
}

// relist yields a Put for each listed object. It yields a Delete for each known object that is not in the list. It returns the cursor from which to
// follow the changes.
func (w *watch[T]) relist() (client.ChangesCursor, error) {
	var changes client.ChangesCursor
	var at *client.Cursor
	listed := map[string]struct{}{}
	for {
		page, err := w.List(w.ctx, at)
		if err != nil {
			return "", err
		}
		if at == nil {
			changes = page.Changes
		}
		for i := range page.Items {
			name := w.Name(&page.Items[i])
			listed[name] = struct{}{}
			if !w.put(Event[T]{Type: Put, Name: name, Object: &page.Items[i]}) {
				return "", nil
			}
		}
		if page.Next == "" {
			break
		}
		at = &page.Next
	}
	for name := range w.known {
		if _, there := listed[name]; !there && !w.put(Event[T]{Type: Delete, Name: name}) {
			return "", nil
		}
	}
	w.put(Event[T]{Type: Synced})
	return changes, nil
}
