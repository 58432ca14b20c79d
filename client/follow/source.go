// Package follow lists a project's objects of one kind and then follows their changes. It survives lost connections, replaced servers and
// cursors that are too old.
//
//	for event, err := range follow.Claims(carve, "team-a", "env=prod").Watch(ctx) {
//		switch {
//		case err != nil:
//			log.Print(err) // the watch reconnects by itself
//		case event.Type == follow.Put:
//			...
//
// [Cache] keeps the objects in memory.
package follow

import (
	"context"
	"encoding/json"
	"time"

	"github.com/carve-ipam/carve/client"
)

// Source describes a project's objects of one kind and the requests that follow them. T is the type of the list's items. [Claims] and similar
// functions make a Source. A caller with another transport sets the fields itself.
type Source[T any] struct {
	// Wait is the time that the server holds a request while nothing changes, in whole seconds up to 60. 0 means 10 s. It must be shorter than the
	// timeout of an attempt (client.RetryPolicy.AttemptTimeout).
	Wait time.Duration
	// List returns one page of objects. For the first page, cursor is nil.
	List func(ctx context.Context, cursor *client.Cursor) (Page[T], error)
	// Name returns an object's name in the change feed.
	Name func(*T) string
	// Changes returns the changes after a cursor, limited to the objects that List returns. If there are no changes yet, it waits for at most the
	// given number of seconds.
	Changes func(ctx context.Context, after client.ChangesCursor, seconds int) (*client.ChangeList, error)
}

// Page is one page from a list. In the first page, Changes is the cursor at which a watch starts to follow the list's changes.
type Page[T any] struct {
	Items   []T                      `json:"items"`
	Next    client.NextCursor        `json:"nextCursor"`
	Changes client.ListChangesCursor `json:"changesCursor"`
}

const usualWait = 10 * time.Second

// changes requests the changes after a cursor. The server waits for the source's Wait.
func (s Source[T]) changes(ctx context.Context, after client.ChangesCursor) (*client.ChangeList, error) {
	wait := s.Wait
	if wait == 0 {
		wait = usualWait
	}
	return s.Changes(ctx, after, int(wait/time.Second))
}

// event converts a change to an event.
func (s Source[T]) event(c client.Change) (Event[T], error) {
	if c.Type != client.ChangeTypePut {
		return Event[T]{Type: Delete, Name: c.Name}, nil
	}
	object := new(T)
	if err := json.Unmarshal(c.Object, object); err != nil {
		return Event[T]{}, err
	}
	return Event[T]{Type: Put, Name: c.Name, Object: object}, nil
}
