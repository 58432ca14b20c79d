package pools

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// PatchClass changes a project's own class with mutate. mutate must be pure, because PatchClass may call it again. The change applies to new claims,
// and existing claims keep their blocks. For moveDefault, see CreateClass. If mutate changes nothing, PatchClass writes nothing.
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
	move := defaultMove{allowed: moveDefault, revision: ipam.NewID()}
	locks := storage.Locks{Exclusive: []ipam.ID{first.UID, classLock(key.ID)}, Shared: []ipam.ID{key.ID}}
	c, err := retryLostRace(func() (ipam.Class, error) {
		return s.ownKind().Patch(ctx, key, name, r, locks, func(was ipam.Class) (ipam.Class, error) {
			if err := storage.SameThing(first.UID, was.UID); err != nil {
				return was, err
			}
			next, err := mutate(was)
			if at := was.Spec.Fixed(next.Spec); err == nil && at != "" {
				err = ipam.Errorf(ipam.CodeImmutableField, "The provisioner, ipFamily, uniqueWithin, poolPer and poolPrefixLength of a class never change; create another class.").
					At(at, "never changes.")
			}
			return next, err
		}, func(ctx context.Context, tx storage.Tx, _, next *ipam.Class) (storage.Changes, error) {
			return move.changes(ctx, tx, key, *next)
		})
	})
	if err != nil || c.Status.Total != "" {
		return c, err
	}
	return withClassStatus(ctx, s.Store, key, c)
}

func ownClass(ctx context.Context, read storage.Reader, key storage.ProjectKey, name string) (ipam.Class, error) {
	c, found, err := storage.IgnoreNotFound(read.ClassGet(ctx, key, name))
	if err == nil && !found {
		err = storage.ClassNotFound(ipam.Ref{Project: key.Name, Name: name})
	}
	return c, err
}
