package kind

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Create creates a resource. If the server generated the name and it is taken, Create generates another one.
func (k Kind[T]) Create(ctx context.Context, in storage.ProjectKey, made T, r usecase.Request, locks storage.Locks, step Step[T],
) (usecase.Result[T], error) {
	head := k.Head(&made)
	return usecase.RunIdempotent(ctx, k.Core, in, r, head, usecase.DecodeWhole[T], func(ctx context.Context) (T, error) {
		stored, err := usecase.StoredResponses(in.ID, r, head.CreatedAt, made)
		if err != nil {
			return made, err
		}
		return usecase.RunWithReadBack(ctx, k.Core, k.Op+"_create", locks, r.DryRun, func(ctx context.Context, tx storage.Tx) (T, error) {
			err := k.write(ctx, tx, in, head.CreatedAt, nil, &made, stored, step)
			return made, err
		}, func(ctx context.Context) (T, bool, error) {
			got, found, err := storage.IgnoreNotFound(k.Find(k.Store)(ctx, in, head.Name))
			return got, found && k.Head(&got).UID == head.UID, err
		})
	})
}

// Put creates a resource. If the resource exists, Put replaces it with the result from the function replacement, and sets Existed.
func (k Kind[T]) Put(ctx context.Context, in storage.ProjectKey, made T, r usecase.Request, locks storage.Locks,
	replacement func(was T) T, step Step[T],
) (usecase.Result[T], error) {
	head := k.Head(&made)
	return usecase.RunWithReadBack(ctx, k.Core, k.Op+"_put", locks, r.DryRun, func(ctx context.Context, tx storage.Tx) (usecase.Result[T], error) {
		none := usecase.Result[T]{}
		was, found, err := storage.IgnoreNotFound(k.Find(tx)(ctx, in, head.Name))
		if err != nil {
			return none, err
		}
		if found && k.CheckAccess != nil {
			if err := k.CheckAccess(was); err != nil {
				return none, err
			}
		}
		had := k.Head(&was)
		if had.Revision != head.Revision { // otherwise this request's earlier attempt, with an indeterminate COMMIT, wrote it
			if err := r.CheckPut(found, had.Revision); err != nil {
				return none, err
			}
		}
		if !found {
			next := made
			err := k.write(ctx, tx, in, head.CreatedAt, nil, &next, nil, step)
			return usecase.Result[T]{Value: next}, err
		}
		next, err := k.replace(ctx, tx, in, was, replacement(was), stamp{head.Revision, head.UpdatedAt}, step)
		return usecase.Result[T]{Value: next, Existed: had.UID != head.UID}, err
	}, func(ctx context.Context) (usecase.Result[T], bool, error) {
		got, found, err := storage.IgnoreNotFound(k.Find(k.Store)(ctx, in, head.Name))
		is := k.Head(&got)
		return usecase.Result[T]{Value: got, Existed: is.UID != head.UID}, found && is.Revision == head.Revision, err
	})
}

// Patch applies the function mutate to a resource. mutate must be pure. If mutate changes nothing, Patch writes nothing.
func (k Kind[T]) Patch(ctx context.Context, in storage.ProjectKey, name string, r usecase.Request, locks storage.Locks,
	mutate func(was T) (T, error), step Step[T],
) (T, error) {
	by := stamp{ipam.NewID(), k.Now()}
	return usecase.RunWithReadBack(ctx, k.Core, k.Op+"_patch", locks, r.DryRun, func(ctx context.Context, tx storage.Tx) (T, error) {
		was, err := k.Find(tx)(ctx, in, name)
		if err != nil {
			return was, err
		}
		if err := r.IfMatch.Check(k.Head(&was).Revision); err != nil {
			return was, err
		}
		next, err := mutate(was)
		if err != nil {
			return was, err
		}
		return k.replace(ctx, tx, in, was, next, by, step)
	}, func(ctx context.Context) (T, bool, error) {
		got, found, err := storage.IgnoreNotFound(k.Find(k.Store)(ctx, in, name))
		if err != nil || !found || k.Head(&got).Revision != by.revision {
			return got, false, err
		}
		got, err = k.complete(ctx, k.Store, in, got) // Complete reads within the same time limit as the read-back
		return got, err == nil, err
	})
}

// Remove deletes a resource. Use it instead of Delete if no locks and no further changes are necessary. If refuse returns an error, Remove deletes
// nothing.
func (k Kind[T]) Remove(ctx context.Context, project, name string, r usecase.Request,
	refuse func(ctx context.Context, tx storage.Tx, in storage.ProjectKey, t T) error,
) error {
	_, in, err := k.Enter(ctx, k.Writes, project)
	if err != nil {
		return err
	}
	return k.Delete(ctx, in, name, r, nil, func(ctx context.Context, tx storage.Tx, was, _ *T) (storage.Changes, error) {
		return storage.Changes{}, refuse(ctx, tx, in, *was)
	})
}

// Delete deletes a resource. It reads the resource first, and passes it to the function locks, which returns the locks for the transaction. If locks
// is nil, the transaction takes no locks.
func (k Kind[T]) Delete(ctx context.Context, in storage.ProjectKey, name string, r usecase.Request,
	locks func(T) (storage.Locks, error), step Step[T],
) error {
	first, err := k.Find(k.Store)(ctx, in, name)
	if err != nil {
		return err
	}
	var on storage.Locks
	if locks != nil {
		if on, err = locks(first); err != nil {
			return err
		}
	}
	head, now := k.Head(&first), k.Now()
	_, err = usecase.RunWithReadBack(ctx, k.Core, k.Op+"_delete", on, r.DryRun, func(ctx context.Context, tx storage.Tx) (struct{}, error) {
		var none struct{}
		was, err := k.Find(tx)(ctx, in, name)
		if err != nil {
			return none, err
		}
		if err := storage.SameThing(head.UID, k.Head(&was).UID); err != nil {
			return none, err
		}
		if k.CheckAccess != nil {
			if err := k.CheckAccess(was); err != nil {
				return none, err
			}
		}
		if err := r.IfMatch.Check(k.Head(&was).Revision); err != nil {
			return none, err
		}
		return none, k.write(ctx, tx, in, now, &was, nil, nil, step)
	}, func(ctx context.Context) (struct{}, bool, error) {
		got, found, err := storage.IgnoreNotFound(k.Find(k.Store)(ctx, in, name))
		return struct{}{}, !found || k.Head(&got).UID != head.UID, err
	})
	return err
}

// stamp contains the revision and the time that a change sets.
type stamp struct {
	revision ipam.ID
	at       usecase.Timestamp
}

// replace writes next if it differs from was.
func (k Kind[T]) replace(ctx context.Context, tx storage.Tx, in storage.ProjectKey, was, next T, by stamp, step Step[T]) (T, error) {
	had, has := k.Head(&was), k.Head(&next)
	sameSpec := k.SameSpec(was, next)
	if sameSpec && usecase.SameMeta(*had, *has) && (k.SameElse == nil || k.SameElse(was, next)) {
		return was, nil
	}
	if err := usecase.CheckChanged(*has, k.Check(in, next)); err != nil {
		return was, err
	}
	usecase.Touch(has, *had, !sameSpec, by.revision, by.at)
	if err := k.write(ctx, tx, in, by.at, &was, &next, nil, step); err != nil {
		return was, err
	}
	return k.complete(ctx, tx, in, next) // read before the commit; after it, a failed read would look like a failed change
}

func (k Kind[T]) complete(ctx context.Context, read storage.Reader, in storage.ProjectKey, t T) (T, error) {
	if k.Complete == nil {
		return t, nil
	}
	return k.Complete(ctx, read, in, t)
}

// write runs the step, and then writes the change and its event.
func (k Kind[T]) write(ctx context.Context, tx storage.Tx, in storage.ProjectKey, at usecase.Timestamp, was, now *T,
	stored []storage.StoredResponse, step Step[T],
) error {
	var ch storage.Changes
	var err error
	if step != nil {
		if ch, err = step(ctx, tx, was, now); err != nil {
			return err
		}
	}
	home, name := in.ID, k.RecordedAs
	if k.Trail != nil {
		if home, err = k.Trail(ctx, tx, was, now); err != nil {
			return err
		}
	}
	var before, after *trail.Record
	one := now
	if was != nil {
		one, before = was, k.Record(*was)
	}
	if now != nil {
		after = k.Record(*now)
	}
	if name == "" {
		name = k.Head(one).Name
	}
	event, err := trail.Changed(ctx, at, home, k.Name, name, before, after)
	if err != nil {
		return err
	}
	ch.Events, ch.StoredResponses = append(ch.Events, event), stored
	k.Write(&ch, was, now)
	return tx.Write(ctx, ch)
}
