package pools

import (
	"context"
	"slices"
	"strconv"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Pools list classes by name. When a request writes a list, each name is resolved to a class in the pool's own project, or else to the platform's
// shared class. From then on, the pool refers to that class, even if the class's visibility changes.

// newlyListed returns the names that a pool lists now and did not list before.
func newlyListed(names []string, had []ipam.ClassRef) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(had, func(c ipam.ClassRef) bool { return c.Ref.Name == name })
	})
}

// classesToList returns the classes that a pool will list, so that the transaction can lock them against deletion. It omits unknown names, because
// the transaction refuses them.
func classesToList(ctx context.Context, read storage.Reader, key storage.ProjectKey, names []string) ([]ipam.ID, error) {
	if len(names) == 0 {
		return nil, nil
	}
	found, err := read.ClassesNamed(ctx, key, names)
	ids := make([]ipam.ID, len(found))
	for i, c := range found {
		ids[i] = c.UID
	}
	return ids, err
}

// listingLocks returns the locks for a transaction that adds classes to a pool's list.
func listingLocks(key storage.ProjectKey, names []string, classes []ipam.ID) storage.Locks {
	if len(names) == 0 {
		return storage.Locks{}
	}
	return storage.Locks{Exclusive: []ipam.ID{classLock(key.ID)}, Shared: classes}
}

// resolveListed resolves a pool's class names for its family. It runs in the transaction that writes the pool. had contains the classes that the pool
// already lists. locked contains the classes that the transaction has locked. fresh contains the classes that the pool did not list before.
func resolveListed(
	ctx context.Context, tx storage.Tx, key storage.ProjectKey, names []string, family ipam.Family, had []ipam.ClassRef, locked []ipam.ID,
) (refs []ipam.ClassRef, fresh []ipam.Class, err error) {
	if len(names) == 0 {
		return nil, nil, nil
	}
	means := map[string]ipam.ClassRef{}
	for _, c := range had {
		means[c.Ref.Name] = c
	}
	byName := map[string]ipam.Class{}
	if added := newlyListed(names, had); len(added) > 0 {
		found, err := tx.ClassesNamed(ctx, key, added)
		if err != nil {
			return nil, nil, err
		}
		for _, c := range found {
			byName[c.Name] = c
		}
	}
	refs = make([]ipam.ClassRef, len(names))
	for i, name := range names {
		if c, ok := means[name]; ok {
			refs[i] = c
			continue
		}
		at := "/spec/classNames/" + strconv.Itoa(i)
		c, ok := byName[name]
		if !ok {
			return nil, nil, storage.ClassNotFound(ipam.Ref{Project: key.Name, Name: name}).At(at, "does not exist here, or is not shared with this project: check the name.")
		}
		if err := listable(ctx, tx, key, c, family, at); err != nil {
			return nil, nil, err
		}
		if !slices.Contains(locked, c.UID) { // the class was created after the locks were chosen
			return nil, nil, storage.Contention(nil)
		}
		refs[i], fresh = c.AsRef(), append(fresh, c)
	}
	return refs, fresh, nil
}

// listable refuses a class that a pool in the project cannot list.
func listable(ctx context.Context, tx storage.Tx, key storage.ProjectKey, c ipam.Class, family ipam.Family, at string) error {
	if c.Spec.Family != family {
		return ipam.Errorf(ipam.CodeFamilyMismatch, "Class %s is %s; the pool is %s.", c.Ref(), c.Spec.Family, family).
			At(at, "must name a class for %s.", family)
	}
	if c.Spec.UniqueWithin == ipam.UniqueWithinClass && c.ProjectID != key.ID {
		return ipam.Invalid(at, "names class %s, which has uniqueWithin Class: only pools of the class's own project can list it.", c.Ref())
	}
	n, err := countListingPools(ctx, tx, c, key)
	if err != nil || n < storage.MaxClassPools {
		return err
	}
	return usecase.Full("Class "+c.Ref().String(), "pool", storage.MaxClassPools, "Remove it from the classNames of another pool, or list another class.").
		At(at, "names a class that has the maximum number of pools in this project.")
}

// refuseOverlap refuses a pool that overlaps another pool behind the same class, if the class does not allow claims to overlap. It checks the newly
// listed classes. It compares only pools in different spaces, because claims in one space never overlap.
func refuseOverlap(ctx context.Context, tx storage.Tx, key storage.ProjectKey, p ipam.Pool, fresh []ipam.Class) error {
	for _, c := range fresh {
		if c.Spec.UniqueWithin != ipam.UniqueWithinClass {
			continue
		}
		behind, err := tx.ClassPools(ctx, c, key.ID)
		if err != nil {
			return err
		}
		for _, other := range behind {
			if other.SpaceID == p.SpaceID || !other.Block.Overlaps(p.Block) {
				continue
			}
			e := ipam.Errorf(ipam.CodeOverlap, "%s overlaps pool %s (%s) of space %q. Both pools cannot list class %s, because its claims must not overlap.", p.Block, other.Ref(), other.Block, other.Space, c.Ref())
			e.Figures.ConflictsWith = []string{other.Ref().String()}
			return e.At("/spec/classNames/"+strconv.Itoa(slices.Index(p.Spec.ClassNames, c.Name)), "names a class whose claims must not overlap, even in different spaces (uniqueWithin).")
		}
	}
	return nil
}

// keepListed refuses to remove a class from a pool's list if the class's claims must not overlap. Without this entry, later checks for overlaps would
// miss the existing claims in the pool.
func keepListed(ctx context.Context, tx storage.Tx, key storage.ProjectKey, was, next ipam.Pool) error {
	var left []string
	for _, c := range was.Classes {
		if !slices.Contains(next.Spec.ClassNames, c.Ref.Name) {
			left = append(left, c.Ref.Name)
		}
	}
	if len(left) == 0 {
		return nil
	}
	found, err := tx.ClassesNamed(ctx, key, left)
	if err != nil {
		return err
	}
	for _, c := range found {
		if c.Spec.UniqueWithin == ipam.UniqueWithinClass && slices.Contains(was.Classes, c.AsRef()) {
			return ipam.Errorf(ipam.CodeImmutableField, "Pool %s must list class %s until the pool is deleted, because the claims of the class must not overlap (uniqueWithin). Drain the pool to stop new claims.", was.Ref(), c.Ref()).
				At("/spec/classNames", "must contain %s.", c.Name)
		}
	}
	return nil
}

// checkScoped refuses other uses for a pool that was carved for a scope.
func checkScoped(p ipam.Pool) error {
	switch {
	case p.Scope == nil:
		return nil
	case len(p.Spec.ClassNames) > 0:
		return ipam.Errorf(ipam.CodeImmutableField, "Pool %s serves only claims of class %s in project %q; it cannot back other classes.", p.Ref(), p.Scope.Class.Ref, p.Scope.Project).
			At("/spec/classNames", "must be empty for the pool of a scope.")
	case p.Spec.Visibility == ipam.VisibilityShared:
		return ipam.Errorf(ipam.CodeImmutableField, "Pool %s serves only claims of class %s in project %q; it cannot be shared.", p.Ref(), p.Scope.Class.Ref, p.Scope.Project).
			At("/spec/visibility", "cannot be shared for the pool of a scope.")
	}
	return nil
}
