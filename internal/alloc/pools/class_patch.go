package pools

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// PatchClass changes a project's own class by mutate, which must be pure: what is claimed from now on follows it, what is held stays as it
// is. moveDefault is as in CreateClass. No difference: nothing is written.
func (s *classes) PatchClass(ctx context.Context, project, name string, moveDefault bool, r usecase.Request, mutate func(ipam.Class) (ipam.Class, error)) (ipam.Class, error) {
	none := ipam.Class{}
	_, key, err := s.Enter(ctx, tenancy.ClassesWrite, project)
	if err != nil {
		return none, err
	}
	first, err := ownClass(ctx, s.Store, key, name)
	if err != nil {
		return none, err
	}
	revision, now := ipam.NewID(), s.Now()
	move := defaultMove{allowed: moveDefault, revision: ipam.NewID()}
	locks := storage.Locks{Alone: []ipam.ID{first.UID, classesOf(key.ID)}, Shared: []ipam.ID{key.ID}}
	c, err := outrun(func() (ipam.Class, error) {
		return usecase.Settled(ctx, s.Core, "class_patch", locks, r.DryRun, func(ctx context.Context, tx storage.Tx) (ipam.Class, error) {
			was, err := ownClass(ctx, tx, key, name)
			if err != nil {
				return none, err
			}
			if err := storage.Moved(first.UID, was.UID); err != nil {
				return none, err
			}
			if err := r.IfMatch.Check(was.Revision); err != nil {
				return none, err
			}
			next, err := mutate(was)
			if err != nil {
				return none, err
			}
			return updateClass(ctx, tx, key, was, next, move, stamp{revision, now})
		}, func(ctx context.Context) (ipam.Class, bool, error) {
			got, found, err := storage.IgnoreNotFound(s.Store.ClassGet(ctx, key, name))
			if err != nil || !found || got.Revision != revision {
				return none, false, err
			}
			got, err = withClassStatus(ctx, s.Store, key, got) // in the time that there is for reading back
			return got, err == nil, err
		})
	})
	if err != nil || c.Status.Total != "" {
		return c, err
	}
	return withClassStatus(ctx, s.Store, key, c)
}

// stamp is what a write leaves on what it changes.
type stamp struct {
	revision ipam.ID
	at       usecase.Timestamp
}

// updateClass makes of a class what it is to be, if that differs.
func updateClass(ctx context.Context, tx storage.Tx, key storage.ProjectKey, was, next ipam.Class, move defaultMove, by stamp) (ipam.Class, error) {
	if at := was.Spec.Fixed(next.Spec); at != "" {
		return was, ipam.Errorf(ipam.CodeImmutableField, "Of a class, provisioner, ipFamily, poolPer and poolPrefixLength never change; make another class.").
			At(at, "never changes.")
	}
	specChanged := !was.Spec.Equal(next.Spec)
	if !specChanged && usecase.SameMeta(was.Metadata, next.Metadata) {
		return was, nil
	}
	if err := usecase.CheckChanged(next.Metadata, checkClass(key.Name, next.Spec)); err != nil {
		return was, err
	}
	usecase.Touch(&next.Metadata, was.Metadata, specChanged, by.revision, by.at)
	ch, err := move.changes(ctx, tx, key, next)
	if err != nil {
		return was, err
	}
	event, err := trail.Changed(ctx, by.at, key.ID, trail.KindClass, was.Name, recordedClass(was), recordedClass(next))
	if err != nil {
		return was, err
	}
	ch.Events = append(ch.Events, event)
	ch.ClassUpdate = append(ch.ClassUpdate, storage.ClassUpdate{Was: was.Revision, Now: next})
	if err := tx.Write(ctx, ch); err != nil {
		return was, err
	}
	return withClassStatus(ctx, tx, key, next) // read here: after the commit a failure to read could not be told from a failure to change
}

// ownClass reads a class of the project itself.
func ownClass(ctx context.Context, read storage.Reader, key storage.ProjectKey, name string) (ipam.Class, error) {
	c, found, err := storage.IgnoreNotFound(read.ClassGet(ctx, key, name))
	if err == nil && !found {
		err = storage.ClassNotFound(ipam.Ref{Project: key.Name, Name: name})
	}
	return c, err
}
