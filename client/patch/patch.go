// Package patch changes objects of Carve as little as needed: what was read is kept, what was changed is compared with it, and only the difference
// is sent, as a JSON merge patch (RFC 7396) with the revision that was read in If-Match. Nothing that differs means no call at all.
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

// Attempts bounds how often [Resource.Change] reads an object again that somebody else has changed meanwhile.
const Attempts = 5

// Snapshot is an object as it was read, before any change.
type Snapshot struct {
	text    []byte
	ifMatch string
}

// Take remembers an object of the contract: a pool, a claim or whatever else has metadata with a revision. The object may be changed from then on.
func Take(object any) (*Snapshot, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("patch: the object as it was read: %w", err)
	}
	var of struct {
		Metadata struct {
			Revision string `json:"revision"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(text, &of); err != nil || of.Metadata.Revision == "" {
		return nil, errors.New("patch: the object has no metadata.revision; take it as the server answered it")
	}
	return &Snapshot{text: text, ifMatch: strconv.Quote(of.Metadata.Revision)}, nil
}

// IfMatch is the ETag of the object as it was read, with its quotes.
func (s *Snapshot) IfMatch() string { return s.ifMatch }

// Changes is the least merge patch that makes the snapshot into the object: nil if they do not differ. The order of keys does not matter, and
// what is empty equals what is absent. A list that differs is sent as a whole.
func (s *Snapshot) Changes(object any) (json.RawMessage, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("patch: the object as it was changed: %w", err)
	}
	changes, err := jsonpatch.CreateMergePatch(s.text, text)
	if err != nil {
		return nil, fmt.Errorf("patch: comparing the object with what was read: %w", err)
	}
	if string(changes) == "{}" {
		return nil, nil
	}
	return changes, nil
}

// Resource is one object that can be read and patched.
type Resource[T any] struct {
	// Get answers the object as it is.
	Get func(context.Context) (*T, error)
	// Send applies a merge patch to the object of an ETag, and answers the object as it is then.
	Send func(ctx context.Context, ifMatch string, changes json.RawMessage) (*T, error)
}

// Patch sends what differs between a snapshot and the changed object, and answers the object as the server has it then: the changed one itself,
// without a call, if nothing differs. When somebody else has changed it since it was read, the error is [client.IsConflict].
func (r Resource[T]) Patch(ctx context.Context, before *Snapshot, changed *T) (*T, error) {
	changes, err := before.Changes(changed)
	if err != nil || changes == nil {
		return changed, err
	}
	return r.Send(ctx, before.ifMatch, changes)
}

// Change reads the object, lets change work on it, and patches it. When somebody else was faster it begins again with what they left, [Attempts]
// times at most: change must then come to its result from what it is given. An error of change ends it, and nothing is sent.
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
