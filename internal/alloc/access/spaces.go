package access

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/kind"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// Spaces contains the use cases for spaces.
type Spaces struct {
	of  kind.Kind[ipam.Space]
	max int
}

func newSpaces(core *usecase.Core, limit int) *Spaces {
	if limit <= 0 {
		limit = DefaultMaxSpaces
	}
	return &Spaces{max: limit, of: kind.Kind[ipam.Space]{
		Core: core, Name: trail.KindSpace, Op: "space", Reads: tenancy.SpacesRead, Writes: tenancy.SpacesWrite,
		Head: func(sp *ipam.Space) *ipam.Metadata { return &sp.Metadata },
		Find: func(read storage.Reader) kind.Finder[ipam.Space] { return read.SpaceGet },
		Write: func(ch *storage.Changes, was, now *ipam.Space) {
			switch {
			case was == nil:
				ch.SpaceInsert, ch.Free = []ipam.Space{*now}, wholeSpace(*now)
			case now == nil:
				ch.SpaceDelete = []ipam.Space{*was}
			default:
				ch.SpaceUpdate = &storage.SpaceUpdate{Was: was.Revision, Now: *now}
			}
		},
		Record:   func(sp ipam.Space) *trail.Record { return trail.Recorded(sp.Metadata, sp.Spec) },
		Check:    func(_ storage.ProjectKey, sp ipam.Space) error { return sp.Spec.Check() },
		SameSpec: func(a, b ipam.Space) bool { return a.Spec == b.Spec },
	}}
}

// CreateSpace makes a space. Both address families in the new space are entirely free.
func (s *Spaces) CreateSpace(ctx context.Context, project string, sp ipam.Space, r usecase.Request) (usecase.Result[ipam.Space], error) {
	who, key, err := s.of.Enter(ctx, tenancy.SpacesWrite, project)
	if err != nil {
		return usecase.Result[ipam.Space]{}, err
	}
	if err := usecase.CheckNew(&sp.Metadata, sp.Spec.Check()); err != nil {
		return usecase.Result[ipam.Space]{}, err
	}
	sp.Metadata = s.of.NewMetadata(sp.Metadata, project, s.of.Region, who)
	sp.ProjectID, sp.ContainerV4, sp.ContainerV6 = key.ID, ipam.NewID(), ipam.NewID()
	locks := storage.Locks{Exclusive: []ipam.ID{SpacesOf(key.ID)}, Shared: []ipam.ID{key.ID}}
	return s.of.Create(ctx, key, sp, r, locks, func(ctx context.Context, tx storage.Tx, _, _ *ipam.Space) (storage.Changes, error) {
		return storage.Changes{}, s.checkLimit(ctx, tx, key)
	})
}

// DefaultMaxSpaces is the default limit for spaces in a project.
const DefaultMaxSpaces = 256

// SpacesOf returns the lock id that protects the number of spaces in a project.
func SpacesOf(projectID ipam.ID) ipam.ID { return ipam.DerivedID(projectID, "spaces") }

// checkLimit refuses a new space above the maximum. Quotas do not count spaces, and each space adds rows, so the number needs its own limit.
func (s *Spaces) checkLimit(ctx context.Context, tx storage.Tx, key storage.ProjectKey) error {
	have, err := tx.SpaceList(ctx, key, "", s.max)
	if err != nil || len(have) < s.max {
		return err
	}
	return usecase.ProjectFull(key.Name, "space", s.max, "Delete one first, or ask the operator for a higher limit.")
}

// GetSpace reads one space.
func (s *Spaces) GetSpace(ctx context.Context, project, name string) (ipam.Space, error) {
	return s.of.Get(ctx, project, name)
}

// PatchSpace applies the function mutate to labels, annotations and spec. mutate must be pure. If mutate changes nothing, PatchSpace writes nothing.
func (s *Spaces) PatchSpace(ctx context.Context, project, name string, r usecase.Request, mutate func(ipam.Space) (ipam.Space, error)) (ipam.Space, error) {
	_, key, err := s.of.Enter(ctx, tenancy.SpacesWrite, project)
	if err != nil {
		return ipam.Space{}, err
	}
	return s.of.Patch(ctx, key, name, r, storage.Locks{}, mutate, nil)
}

// DeleteSpace deletes a space without pools, and its grants. It refuses the default space, which Carve deletes with its project.
func (s *Spaces) DeleteSpace(ctx context.Context, project, name string, r usecase.Request) error {
	_, key, err := s.of.Enter(ctx, tenancy.SpacesWrite, project)
	if err != nil {
		return err
	}
	if name == ipam.DefaultSpace {
		return ipam.Errorf(ipam.CodeInUse, "The space %q belongs to its project and is deleted with it.", name)
	}
	locks := func(sp ipam.Space) (storage.Locks, error) { return storage.Locks{Exclusive: spaceLocks(sp)}, nil }
	return s.of.Delete(ctx, key, name, r, locks, func(ctx context.Context, tx storage.Tx, was, _ *ipam.Space) (storage.Changes, error) {
		free, err := emptySpace(ctx, tx, *was)
		of := storage.GrantsOfSpace(*was)
		return storage.Changes{Free: free, AccessChanges: storage.AccessChanges{GrantsDelete: &of}}, err
	})
}

// spaceLocks returns the lock ids for a space and for its two containers. Changes to the space's grants also lock the first id.
func spaceLocks(sp ipam.Space) []ipam.ID { return []ipam.ID{sp.UID, sp.ContainerV4, sp.ContainerV6} }

// emptySpace returns the changes that delete a space's free rows. It refuses a space with root pools. A space without root pools has one free block
// in each family.
func emptySpace(ctx context.Context, tx storage.Tx, sp ipam.Space) ([]storage.FreeChange, error) {
	var free []storage.FreeChange
	var pools int64
	for _, f := range []ipam.Family{ipam.IPv4, ipam.IPv6} {
		c := storage.SpaceContainer(sp, f)
		held, err := tx.HeldCount(ctx, c)
		if err != nil {
			return nil, err
		}
		pools += held.RootPools
		free = append(free, storage.FreeChange{Container: c, Delete: storage.WholeBlock(c)})
	}
	if pools > 0 {
		e := ipam.Errorf(ipam.CodeInUse, "Space %q still holds %s; delete them first.", sp.Name, usecase.CountOf(pools, "root pool"))
		e.Figures.Pools = &pools
		return nil, e
	}
	return free, nil
}

// ListSpaces lists a project's spaces by name.
func (s *Spaces) ListSpaces(ctx context.Context, project string, f paging.Filter, limit int, cursor string, r usecase.Reading,
) (paging.Page[ipam.Space], error) {
	_, key, err := s.of.Enter(ctx, tenancy.SpacesRead, project)
	if err != nil {
		return paging.Page[ipam.Space]{}, err
	}
	return s.of.Page(ctx, key, paging.ListOf("spaces", key.ID, f), storage.Reader.SpaceList,
		func(sp *ipam.Space) bool { return f.MatchesLabels(sp.Labels) }, limit, cursor, r)
}
