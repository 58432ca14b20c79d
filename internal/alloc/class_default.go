package alloc

import (
	"context"
	"errors"

	"github.com/carve-ipam/carve/internal/ipam"
)

// defaultMove is how a class becomes the default of its family and project while another one may be. There is one at most: the database
// has a unique index of them.
type defaultMove struct {
	allowed  bool    // or else it is refused
	revision ipam.ID // of the other class, once it is not the default any more
}

// outrun runs a transaction again that lost the race for the default in the database itself, where nothing but the unique index stands
// between two of them: the next run sees who won, and moves the default or names the other class.
func outrun[T any](run func() (T, error)) (T, error) {
	for range maxRounds {
		v, err := run()
		e, ok := errors.AsType[*ipam.Error](err)
		if !ok || e.Code != ipam.CodeAlreadyExists || len(e.Fields) == 0 || e.Fields[0].Pointer != defaultPointer || len(e.Figures.ConflictsWith) > 0 {
			return v, err
		}
	}
	var zero T
	return zero, contention(nil)
}

const defaultPointer = "/spec/isDefault"

// changes takes the default off the class that has it, if next is to have it: the change and its record.
func (m defaultMove) changes(ctx context.Context, tx Tx, key ProjectKey, next ipam.Class) (Changes, error) {
	if !next.Spec.IsDefault {
		return Changes{}, nil
	}
	was, found, err := ignoreNotFound(tx.ClassDefault(ctx, key, next.Spec.Family))
	if err != nil || !found || was.UID == next.UID {
		return Changes{}, err
	}
	if !m.allowed {
		e := ipam.Errorf(ipam.CodeAlreadyExists,
			"Class %s is the default for %s already; repeat the request with moveDefault=true to make this one the default instead.", was.Ref(), next.Spec.Family)
		e.Figures.ConflictsWith = []string{was.Ref().String()}
		return Changes{}, e.At(defaultPointer, "can be true for one class of a family.")
	}
	other := was
	other.Spec.IsDefault = false
	touch(&other.Metadata, was.Metadata, true, m.revision, next.UpdatedAt)
	event, err := changed(ctx, next.UpdatedAt, key.ID, kindClass, other.Name, recordedClass(was), recordedClass(other))
	if err != nil {
		return Changes{}, err
	}
	return Changes{
		ClassChanges: ClassChanges{ClassUpdate: []ClassUpdate{{Was: was.Revision, Now: other}}},
		Events:       []ipam.Event{event},
	}, nil
}
