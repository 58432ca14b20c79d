package alloc

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// DeleteClass removes a project's own class that no pool and no claim names any more.
func (s *Service) DeleteClass(ctx context.Context, project, name string, r Request) error {
	_, key, err := s.enter(ctx, tenancy.ClassesWrite, project)
	if err != nil {
		return err
	}
	first, err := ownClass(ctx, s.store, key, name)
	if err != nil {
		return err
	}
	now := s.now()
	locks := Locks{Alone: []ipam.ID{first.UID}, Shared: []ipam.ID{key.ID}}
	_, err = settled(ctx, s, "class_delete", locks, r.DryRun, func(ctx context.Context, tx Tx) (struct{}, error) {
		var none struct{}
		c, err := ownClass(ctx, tx, key, name)
		if err != nil {
			return none, err
		}
		if err := moved(first.UID, c.UID); err != nil {
			return none, err
		}
		if err := r.IfMatch.Check(c.Revision); err != nil {
			return none, err
		}
		use, err := tx.ClassUse(ctx, c.UID)
		if err != nil {
			return none, err
		}
		if use != (ClassUse{}) {
			return none, classInUse(c, use)
		}
		event, err := changed(ctx, now, key.ID, kindClass, name, recordedClass(c), nil)
		if err != nil {
			return none, err
		}
		return none, tx.Write(ctx, Changes{ClassChanges: ClassChanges{ClassDelete: &c}, Events: []ipam.Event{event}})
	}, func(ctx context.Context) (struct{}, bool, error) {
		got, found, err := ignoreNotFound(s.store.ClassGet(ctx, key, name))
		return struct{}{}, !found || got.UID != first.UID, err
	})
	return err
}

// classInUse says what still names a class: counts alone, for pools and claims may be other projects'.
func classInUse(c ipam.Class, use ClassUse) error {
	e := ipam.Errorf(ipam.CodeInUse, "Class %s is still listed by %s, has %s carved for scopes, and is named by %s; nothing was changed.",
		c.Ref(), counted(use.Pools, "pool"), counted(use.Scoped, "pool"), counted(use.Claims, "claim"))
	pools := use.Pools + use.Scoped
	e.Figures.Class, e.Figures.Pools, e.Figures.Claims = c.Ref().String(), &pools, &use.Claims
	return e
}
