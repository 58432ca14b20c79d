package pools

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// DeleteClass removes a project's own class that no pool and no claim names any more.
func (s *classes) DeleteClass(ctx context.Context, project, name string, r usecase.Request) error {
	_, key, err := s.Enter(ctx, tenancy.ClassesWrite, project)
	if err != nil {
		return err
	}
	first, err := ownClass(ctx, s.Store, key, name)
	if err != nil {
		return err
	}
	now := s.Now()
	locks := storage.Locks{Alone: []ipam.ID{first.UID}, Shared: []ipam.ID{key.ID}}
	_, err = usecase.Settled(ctx, s.Core, "class_delete", locks, r.DryRun, func(ctx context.Context, tx storage.Tx) (struct{}, error) {
		var none struct{}
		c, err := ownClass(ctx, tx, key, name)
		if err != nil {
			return none, err
		}
		if err := storage.Moved(first.UID, c.UID); err != nil {
			return none, err
		}
		if err := r.IfMatch.Check(c.Revision); err != nil {
			return none, err
		}
		use, err := tx.ClassUse(ctx, c.UID)
		if err != nil {
			return none, err
		}
		if use != (storage.ClassUse{}) {
			return none, classInUse(c, use)
		}
		event, err := trail.Changed(ctx, now, key.ID, trail.KindClass, name, recordedClass(c), nil)
		if err != nil {
			return none, err
		}
		return none, tx.Write(ctx, storage.Changes{ClassChanges: storage.ClassChanges{ClassDelete: &c}, Events: []ipam.Event{event}})
	}, func(ctx context.Context) (struct{}, bool, error) {
		got, found, err := storage.IgnoreNotFound(s.Store.ClassGet(ctx, key, name))
		return struct{}{}, !found || got.UID != first.UID, err
	})
	return err
}

// classInUse says what still names a class: counts alone, for pools and claims may be other projects'.
func classInUse(c ipam.Class, use storage.ClassUse) error {
	e := ipam.Errorf(ipam.CodeInUse, "Class %s is still listed by %s, has %s carved for scopes, and is named by %s; nothing was changed.",
		c.Ref(), usecase.Counted(use.Pools, "pool"), usecase.Counted(use.Scoped, "pool"), usecase.Counted(use.Claims, "claim"))
	pools := use.Pools + use.Scoped
	e.Figures.Class, e.Figures.Pools, e.Figures.Claims = c.Ref().String(), &pools, &use.Claims
	return e
}
