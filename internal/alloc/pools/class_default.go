package pools

import (
	"context"
	"errors"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// defaultMove makes a class the default for its family and project, and takes the default from another class if there is one. A unique index in the
// database allows at most one default.
type defaultMove struct {
	allowed  bool    // whether the class may take the default from another class; if not, the request is refused
	revision ipam.ID // the other class's revision after it has lost the default
}

// retryLostRace retries a transaction if another transaction has set a default class at the same time. Only the unique index in the database detects
// this. The next attempt reads the new default class. It then moves the default, or names that class in its refusal.
func retryLostRace[T any](run func() (T, error)) (T, error) {
	return usecase.Rounds(func(int) (T, bool, error) {
		v, err := run()
		e, ok := errors.AsType[*ipam.Error](err)
		if ok && e.Code == ipam.CodeAlreadyExists && len(e.Fields) > 0 && e.Fields[0].Pointer == defaultPointer && len(e.Figures.ConflictsWith) == 0 {
			return v, true, nil
		}
		return v, false, err
	})
}

const defaultPointer = "/spec/isDefault"

// changes takes the default from another class if next must be the default. It returns this change and its event.
func (m defaultMove) changes(ctx context.Context, tx storage.Tx, key storage.ProjectKey, next ipam.Class) (storage.Changes, error) {
	if !next.Spec.IsDefault {
		return storage.Changes{}, nil
	}
	was, found, err := storage.IgnoreNotFound(tx.ClassDefault(ctx, key, next.Spec.Family))
	if err != nil || !found || was.UID == next.UID {
		return storage.Changes{}, err
	}
	if !m.allowed {
		e := ipam.Errorf(ipam.CodeAlreadyExists,
			"Class %s is already the default for %s; repeat the request with moveDefault=true to make this class the default.", was.Ref(), next.Spec.Family)
		e.Figures.ConflictsWith = []string{was.Ref().String()}
		return storage.Changes{}, e.At(defaultPointer, "can be true for only one class of a family.")
	}
	other := was
	other.Spec.IsDefault = false
	usecase.Touch(&other.Metadata, was.Metadata, true, m.revision, next.UpdatedAt)
	event, err := trail.Changed(ctx, next.UpdatedAt, key.ID, trail.KindClass, other.Name, recordedClass(was), recordedClass(other))
	if err != nil {
		return storage.Changes{}, err
	}
	return storage.Changes{
		ClassChanges: storage.ClassChanges{ClassUpdate: []storage.ClassUpdate{{Was: was.Revision, Now: other}}},
		Events:       []ipam.Event{event},
	}, nil
}
