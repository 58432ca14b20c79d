// Package follow keeps up with what changes in a project: it lists the objects of a kind and then follows their changes, through lost connections,
// servers that are replaced, and cursors that are too old.
//
//	for event, err := range follow.Claims(carve, "team-a", "env=prod").Watch(ctx) {
//		switch {
//		case err != nil:
//			log.Print(err) // and on: the watch connects again
//		case event.Type == follow.Put:
//			...
//
// [Cache] keeps a copy that can be asked at any time.
package follow

import (
	"context"
	"encoding/json"
	"time"

	"github.com/carve-ipam/carve/client"
)

// Source is what can be followed: objects of one kind in a project, T as the list answers them. [Claims] and others make one; who reaches the server in
// another way fills it in.
type Source[T any] struct {
	// Wait is for how long the server keeps a request that has nothing to answer yet, in whole seconds up to 60; 10 s if it is 0. It must be
	// shorter than an attempt may last (client.RetryPolicy.AttemptTimeout).
	Wait time.Duration
	// List answers a page of what there is, the first one without a cursor.
	List func(ctx context.Context, cursor *client.Cursor) (Page[T], error)
	// Name is what the feed calls an object.
	Name func(*T) string
	// Changes answers what has changed since a place, of the objects that List lists. When there is nothing, it waits so many seconds for it.
	Changes func(ctx context.Context, after client.ChangesCursor, seconds int) (*client.ChangeList, error)
}

// Page is one of a list, and on the first one from where the list is followed.
type Page[T any] struct {
	Items   []T
	Next    client.NextCursor
	Changes client.ListChangesCursor
}

const usualWait = 10 * time.Second

// changes asks for what has changed since a cursor, and waits for it.
func (s Source[T]) changes(ctx context.Context, after client.ChangesCursor) (*client.ChangeList, error) {
	wait := s.Wait
	if wait == 0 {
		wait = usualWait
	}
	return s.Changes(ctx, after, int(wait/time.Second))
}

// event is what a change says.
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
