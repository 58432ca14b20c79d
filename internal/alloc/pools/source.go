package pools

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Source is the container from which a pool is carved.
type Source struct {
	Container storage.Container
	SpaceID   ipam.ID
	Space     ipam.Ref
	Parent    *ipam.Pool // nil for a root pool
}

// poolSource returns the source for a project's new pool. The source is a pool in the same project, or a space. The space may belong to another
// project that has granted it.
func poolSource(ctx context.Context, read storage.Reader, key storage.ProjectKey, p ipam.Pool) (Source, error) {
	if ref := p.Spec.Parent; ref != (ipam.Ref{}) {
		if ref.Project != key.Name {
			return Source{}, storage.NotFoundAt(ipam.Errorf(ipam.CodeNotFound, "Pool %s was not found.", ref), "/spec/parentRef")
		}
		parent, err := read.PoolGet(ctx, key, ref.Name)
		if err != nil {
			return Source{}, storage.NotFoundAt(err, "/spec/parentRef/name")
		}
		if sc := parent.Scope; sc != nil {
			return Source{}, ipam.Invalid("/spec/parentRef/name", "names a pool that serves only claims of class %s in project %q; carve from another pool.", sc.Class.Ref, sc.Project)
		}
		return Source{Container: storage.PoolContainer(parent), SpaceID: parent.SpaceID, Space: parent.Space, Parent: &parent}, nil
	}
	ref := p.Spec.Space
	if ref == (ipam.Ref{}) {
		ref = ipam.Ref{Project: key.Name, Name: ipam.DefaultSpace}
	}
	sp, err := spaceFor(ctx, read, key, ref)
	if err != nil {
		return Source{}, err
	}
	c := storage.SpaceContainer(sp, ipam.FamilyOf(p.Spec.CIDR.Addr()))
	return Source{Container: c, SpaceID: sp.UID, Space: ipam.Ref{Project: ref.Project, Name: sp.Name}}, nil
}

// spaceFor returns a space from which a project may carve root pools. If another project's space is not granted, spaceFor returns the same error as
// for a missing space.
func spaceFor(ctx context.Context, read storage.Reader, key storage.ProjectKey, ref ipam.Ref) (ipam.Space, error) {
	if ref.Project == key.Name {
		sp, err := read.SpaceGet(ctx, key, ref.Name)
		return sp, storage.NotFoundAt(err, "/spec/spaceRef/name")
	}
	sp, found, err := foreignSpace(ctx, read, key, ref)
	if err == nil && !found {
		err = storage.NotFoundAt(ipam.Errorf(ipam.CodeNotFound, "Space %s was not found.", ref), "/spec/spaceRef")
	}
	return sp, err
}

// foreignSpace reads a space that another project has granted. One read checks whether such a grant exists. For a missing space and for a space
// without a grant, this read finds nothing. So both refusals take the same time.
func foreignSpace(ctx context.Context, read storage.Reader, key storage.ProjectKey, ref ipam.Ref) (ipam.Space, bool, error) {
	there, err := read.NamesThere(ctx, key, []storage.Named{{What: storage.NamedSpace, Ref: ref}})
	if err != nil || len(there) == 0 {
		return ipam.Space{}, false, err
	}
	owner, _, err := storage.IgnoreNotFound(read.ProjectGet(ctx, ref.Project))
	if err != nil {
		return ipam.Space{}, false, err
	}
	sp, found, err := storage.IgnoreNotFound(read.SpaceGet(ctx, storage.Key(owner), ref.Name))
	if err != nil {
		return sp, false, err
	}
	granted, err := read.Granted(ctx, storage.GrantsOfSpace(sp), key.Name)
	return sp, found && granted, err
}

// usedIn returns the source for use in a region that the parent pool serves.
func (from Source) usedIn(region string) Source {
	if from.Parent == nil {
		return from
	}
	parent := storage.Placed(*from.Parent, region)
	from.Parent, from.Container = &parent, storage.PoolContainer(parent)
	return from
}

// sourceNear chooses the region in which to carve a child pool, if the parent pool serves several regions. An exact CIDR must come from the region
// that has it. Otherwise, sourceNear chooses the child pool's home region, or else the parent pool's home region.
func (s *creator) sourceNear(ctx context.Context, from Source, p ipam.Pool, dryRun bool) (Source, error) {
	if from.Parent == nil || !from.Parent.MultiRegion() {
		return from, nil
	}
	if p.Spec.CIDR.IsValid() {
		at, err := s.regions.LocateExact(ctx, *from.Parent, p.Spec.CIDR, dryRun)
		return from.usedIn(at.Place()), err
	}
	return from.usedIn(from.Parent.InRegion(p.Region).Place()), nil
}
