// Package patch changes Carve's objects with minimal patches. It compares the changed object with the object as it was read, and sends only the
// difference, as a JSON merge patch (RFC 7396) with the revision in If-Match. Without a difference it sends nothing.
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

// Attempts bounds the attempts of [Resource.Change] when other clients change the object at the same time.
const Attempts = 5

// Snapshot is an object's state before any change.
type Snapshot struct {
	text    []byte
	ifMatch string
}

// Take makes a snapshot of an object that has metadata with a revision, such as a pool or a claim. The caller may change the object afterwards.
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

// Changes returns the smallest merge patch from the snapshot to the object, or nil if they do not differ. It ignores key order and treats empty
// values as absent. A list that differs is sent whole.
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
	// Send applies a merge patch to the object with this ETag and returns the changed object.
	Send func(ctx context.Context, ifMatch string, changes json.RawMessage) (*T, error)
}

// Patch sends the difference between a snapshot and the changed object, and returns the object as the server has it then. Without a difference it
// returns the changed object and sends nothing. It fails with a conflict ([client.IsConflict]) if another client has changed the object since it was
// read.
func (r Resource[T]) Patch(ctx context.Context, before *Snapshot, changed *T) (*T, error) {
	changes, err := before.Changes(changed)
	if err != nil || changes == nil {
		return changed, err
	}
	return r.Send(ctx, before.ifMatch, changes)
}

// Change reads the object, calls change on it, and patches it. After a conflict with another client it starts again with the new state, [Attempts]
// times at most; so change must compute its result from its argument alone. An error from change ends it, and nothing is sent.
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
