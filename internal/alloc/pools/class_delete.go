package pools

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// DeleteClass deletes a project's own class that no pool lists and no claim names.
func (s *classes) DeleteClass(ctx context.Context, project, name string, r usecase.Request) error {
	_, key, err := s.Enter(ctx, tenancy.ClassesWrite, project)
	if err != nil {
		return err
	}
	locks := func(c ipam.Class) (storage.Locks, error) {
		return storage.Locks{Exclusive: []ipam.ID{c.UID}, Shared: []ipam.ID{key.ID}}, nil
	}
	return s.ownKind().Delete(ctx, key, name, r, locks, func(ctx context.Context, tx storage.Tx, c, _ *ipam.Class) (storage.Changes, error) {
		use, err := tx.ClassUse(ctx, c.UID)
		if err == nil && use != (storage.ClassUse{}) {
			err = classInUse(*c, use)
		}
		return storage.Changes{}, err
	})
}

// classInUse returns the refusal to delete a class in use. It contains only counts, because the pools and claims may belong to other projects.
func classInUse(c ipam.Class, use storage.ClassUse) error {
	e := ipam.Errorf(ipam.CodeInUse, "Class %s is still listed by %s, has %s carved for scopes, and is named by %s. Nothing was changed; remove these uses first.",
		c.Ref(), usecase.CountOf(use.Pools, "pool"), usecase.CountOf(use.Scoped, "pool"), usecase.CountOf(use.Claims, "claim"))
	pools := use.Pools + use.Scoped
	e.Figures.Class, e.Figures.Pools, e.Figures.Claims = c.Ref().String(), &pools, &use.Claims
	return e
}
