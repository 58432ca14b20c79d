package follow

import (
	"context"
	"fmt"
	"iter"

	"github.com/carve-ipam/carve/client"
)

// EventType is what an event says.
type EventType string

const (
	// Put says that the object is now as the event has it.
	Put EventType = "Put"
	// Delete says that there is no object of the name, or none that is followed.
	Delete EventType = "Delete"
	// Synced says that the events until now have told everything there was when the list was read.
	Synced EventType = "Synced"
)

// Event is one step of a watch.
type Event[T any] struct {
	Type   EventType
	Name   string // of the object; empty: Synced
	Object *T     // of a Put; nil otherwise
}

// Watch tells first what there is, as Puts, then that this was all (Synced), and from then on what changes. An object may be told again without a
// change, and states in between may be left out; what is told last is how it is.
//
// An error comes with an empty event. After one that may pass (no connection, a server that is busy) the watch goes on where it was, with growing
// pauses of at most 30 s; a refusal that stays (no permission, no such project) is the last event. After a cursor that is too old the watch lists
// again: it tells Deletes for what has gone meanwhile, and Synced once more. It ends when its context does, without an error.
func (s Source[T]) Watch(ctx context.Context) iter.Seq2[Event[T], error] {
	return func(yield func(Event[T], error) bool) {
		w := watch[T]{Source: s, ctx: ctx, yield: yield, known: map[string]struct{}{}}
		for w.tell(w.listAndFollow()) {
		}
	}
}

// watch is a watch while it runs.
type watch[T any] struct {
	Source[T]
	ctx   context.Context
	yield func(Event[T], error) bool
	known map[string]struct{} // the names that were told and not deleted
	ended bool                // nobody listens any more
	patience
}

// tell tells of an error, waits, and reports whether the watch goes on.
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

// put tells of an event; it reports whether somebody listens.
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

// listAndFollow lists, and follows until the cursor is too old or somebody ends it. What fails while it follows it tells by itself, and goes on.
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

// relist tells what there is, and what was there and is no more. It answers from where the changes are followed.
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
