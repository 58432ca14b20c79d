package alloc

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
)

// source is what a pool is carved from.
type source struct {
	container Container
	spaceID   ipam.ID
	space     ipam.Ref
	parent    *ipam.Pool // nil for a root
}

// poolSource finds what a new pool of a project is carved from: a pool of the same project, or a space, which may be another
// project's that has granted it.
func poolSource(ctx context.Context, read Reader, key ProjectKey, p ipam.Pool) (source, error) {
	if ref := p.Spec.Parent; ref != (ipam.Ref{}) {
		if ref.Project != key.Name {
			return source{}, at(ipam.Errorf(ipam.CodeNotFound, "Pool %s was not found.", ref), "/spec/parentRef")
		}
		parent, err := read.PoolGet(ctx, key, ref.Name)
		if err != nil {
			return source{}, at(err, "/spec/parentRef/name")
		}
		if sc := parent.Scope; sc != nil {
			return source{}, ipam.Invalid("/spec/parentRef/name", "names a pool that was carved for claims of class %s in project %q alone; carve from another one.", sc.Class.Ref, sc.Project)
		}
		return source{container: PoolContainer(parent), spaceID: parent.SpaceID, space: parent.Space, parent: &parent}, nil
	}
	ref := p.Spec.Space
	if ref == (ipam.Ref{}) {
		ref = ipam.Ref{Project: key.Name, Name: ipam.DefaultSpace}
	}
	sp, err := spaceFor(ctx, read, key, ref)
	if err != nil {
		return source{}, err
	}
	c := SpaceContainer(sp, ipam.FamilyOf(p.Spec.CIDR.Addr()))
	return source{container: c, spaceID: sp.UID, space: ipam.Ref{Project: ref.Project, Name: sp.Name}}, nil
}

// spaceFor finds a space that a project may carve root pools from. A space of another project that was not granted is answered
// like one that does not exist.
func spaceFor(ctx context.Context, read Reader, key ProjectKey, ref ipam.Ref) (ipam.Space, error) {
	if ref.Project == key.Name {
		sp, err := read.SpaceGet(ctx, key, ref.Name)
		return sp, at(err, "/spec/spaceRef/name")
	}
	sp, found, err := foreignSpace(ctx, read, key, ref)
	if err == nil && !found {
		err = at(ipam.Errorf(ipam.CodeNotFound, "Space %s was not found.", ref), "/spec/spaceRef")
	}
	return sp, err
}

// foreignSpace makes the same reads whether there is such a project, such a space and such a grant: what is missing has no id, and
// nothing is found under that.
func foreignSpace(ctx context.Context, read Reader, key ProjectKey, ref ipam.Ref) (ipam.Space, bool, error) {
	owner, _, err := ignoreNotFound(read.ProjectGet(ctx, ref.Project))
	if err != nil {
		return ipam.Space{}, false, err
	}
	sp, found, err := ignoreNotFound(read.SpaceGet(ctx, Key(owner), ref.Name))
	if err != nil {
		return sp, false, err
	}
	granted, err := read.Granted(ctx, grantsOfSpace(sp), key.Name)
	return sp, found && granted, err
}

// at points a not_found error about a reference at the field that holds the reference.
func at(err error, pointer string) error {
	if e, ok := err.(*ipam.Error); ok && e.Code == ipam.CodeNotFound { //nolint:errorlint // only the error itself, not a wrapped one, speaks of this reference
		return e.At(pointer, "names nothing that exists here.")
	}
	return err
}

// in is a source in one of the regions that the parent is served in.
func (from source) in(region string) source {
	if from.parent == nil {
		return from
	}
	parent := placed(*from.parent, region)
	from.parent, from.container = &parent, PoolContainer(parent)
	return from
}

// sourceNear chooses in which region a child is carved from a parent that serves several: where the very block is, or else where the child is to be at home, or
// else at the parent's home.
func (s *Service) sourceNear(ctx context.Context, from source, p ipam.Pool, dryRun bool) (source, error) {
	if from.parent == nil || !from.parent.Several() {
		return from, nil
	}
	if p.Spec.CIDR.IsValid() {
		at, err := s.gathered(ctx, *from.parent, p.Spec.CIDR, dryRun)
		return from.in(at.Place()), err
	}
	return from.in(from.parent.In(p.Region).Place()), nil
}
