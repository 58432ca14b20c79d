// Package patch changes Carve's objects with minimal patches. It compares the changed object with the object as the caller read it, and sends only
// the difference. The request is a JSON merge patch (RFC 7396) with the revision in If-Match. If there is no difference, the package sends nothing.
//
//	pool, err := patch.Pool(carve, "team-a", "prod").Change(ctx, func(p *client.IPPool) error {
//		p.Spec.Description = "Production"
//		return nil
//	})
package patch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/carve-ipam/carve/client"
)

// Attempts bounds the attempts of [Resource.Change]. An attempt fails if another client changes the object at the same time.
const Attempts = 5

// Snapshot is an object's state before any change.
type Snapshot struct {
	text    []byte
	ifMatch string
}

// Take makes a snapshot of an object that has metadata with a revision, such as a pool or a claim. The caller may then change the object.
func Take(object any) (*Snapshot, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("patch: cannot encode the original object: %w", err)
	}
	var of struct {
		Metadata struct {
			Revision string `json:"revision"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(text, &of); err != nil || of.Metadata.Revision == "" {
		return nil, errors.New("patch: the object has no metadata.revision: pass the object that the server returned")
	}
	return &Snapshot{text: text, ifMatch: strconv.Quote(of.Metadata.Revision)}, nil
}

// IfMatch returns the snapshot's ETag, with its quotes.
func (s *Snapshot) IfMatch() string { return s.ifMatch }

// Changes returns the smallest merge patch from the snapshot to the object. If they do not differ, it returns nil. It ignores the order of keys and
// treats empty values as absent. If a list differs, the patch has the whole list.
func (s *Snapshot) Changes(object any) (json.RawMessage, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("patch: cannot encode the changed object: %w", err)
	}
	changes, err := jsonpatch.CreateMergePatch(s.text, text)
	if err != nil {
		return nil, fmt.Errorf("patch: cannot compare the changed object with the original: %w", err)
	}
	if string(changes) == "{}" {
		return nil, nil
	}
	return changes, nil
}

// Resource reads and patches one object.
type Resource[T any] struct {
	// Get returns the current object.
	Get func(context.Context) (*T, error)
	// Send applies a merge patch to the object if the object still has this ETag. It returns the changed object.
	Send func(ctx context.Context, ifMatch string, changes json.RawMessage) (*T, error)
}

// Patch sends the difference between a snapshot and the changed object. It returns the object as the server stores it after the change. If there is
// no difference, it sends nothing and returns the changed object. If another client has changed the object since the caller read it, Patch fails with
// a conflict ([client.IsConflict]).
func (r Resource[T]) Patch(ctx context.Context, before *Snapshot, changed *T) (*T, error) {
	changes, err := before.Changes(changed)
	if err != nil || changes == nil {
		return changed, err
	}
	return r.Send(ctx, before.ifMatch, changes)
}

// Change reads the object, calls change with it, and sends the patch. After a conflict with another client, it starts again with the new state, at
// most [Attempts] times. The function change must therefore compute its result only from its argument. If change returns an error, Change sends
// nothing and returns that error.
func (r Resource[T]) Change(ctx context.Context, change func(*T) error) (*T, error) {
	for attempt := 1; ; attempt++ {
		object, err := r.Get(ctx)
		if err != nil {
			return nil, err
		}
		before, err := Take(object)
		if err != nil {
			return nil, err
		}
		if err := change(object); err != nil {
			return nil, err
		}
		changed, err := r.Patch(ctx, before, object)
		if err == nil || !client.IsConflict(err) || attempt == Attempts {
			return changed, err
		}
	}
}
