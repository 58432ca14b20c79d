package access

import (
	"context"
	"strconv"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

func (s *Access) defaultSpace(p ipam.Project, who tenancy.Principal) ipam.Space {
	return ipam.Space{
		Metadata:  s.Fresh(ipam.Metadata{Name: ipam.DefaultSpace}, p.Name, s.Region, who),
		ProjectID: p.UID, ContainerV4: ipam.NewID(), ContainerV6: ipam.NewID(),
		Spec: ipam.SpaceSpec{Description: "Made with the project."},
	}
}

// CreateSpace makes a routing domain whose two address families are wholly free.
func (s *Access) CreateSpace(ctx context.Context, project string, sp ipam.Space, r usecase.Request) (usecase.Result[ipam.Space], error) {
	who, key, err := s.Enter(ctx, tenancy.SpacesWrite, project)
	if err != nil {
		return usecase.Result[ipam.Space]{}, err
	}
	if err := usecase.CheckNew(&sp.Metadata, sp.Spec.Check()); err != nil {
		return usecase.Result[ipam.Space]{}, err
	}
	sp.Metadata = s.Fresh(sp.Metadata, project, s.Region, who)
	sp.ProjectID, sp.ContainerV4, sp.ContainerV6 = key.ID, ipam.NewID(), ipam.NewID()
	return usecase.Once(ctx, s.Core, key, r, &sp.Metadata, func(ctx context.Context) (ipam.Space, error) {
		stored, err := usecase.Answers(key.ID, r, sp.CreatedAt, sp)
		if err != nil {
			return sp, err
		}
		locks := storage.Locks{Alone: []ipam.ID{SpacesOf(key.ID)}, Shared: []ipam.ID{key.ID}}
		return usecase.Settled(ctx, s.Core, "space_create", locks, r.DryRun, func(ctx context.Context, tx storage.Tx) (ipam.Space, error) {
			if err := s.roomForSpace(ctx, tx, key); err != nil {
				return sp, err
			}
			event, err := trail.Changed(ctx, sp.CreatedAt, key.ID, trail.KindSpace, sp.Name, nil, trail.Recorded(sp.Metadata, sp.Spec))
			if err != nil {
				return sp, err
			}
			return sp, tx.Write(ctx, storage.Changes{
				SpaceInsert: []ipam.Space{sp}, Free: wholeSpace(sp), Answers: stored, Events: []ipam.Event{event},
			})
		}, func(ctx context.Context) (ipam.Space, bool, error) {
			got, found, err := storage.IgnoreNotFound(s.Store.SpaceGet(ctx, key, sp.Name))
			return got, found && got.UID == sp.UID, err
		})
	})
}

// DefaultMaxSpaces is how many spaces a project can have when nobody says otherwise.
const DefaultMaxSpaces = 256

// SpacesOf stands, in Locks, for how many spaces a project has.
func SpacesOf(projectID ipam.ID) ipam.ID { return ipam.DerivedID(projectID, "spaces") }

// roomForSpace refuses a space that is one too many: quotas do not count them, and each has rows of its own.
func (s *Access) roomForSpace(ctx context.Context, tx storage.Tx, key storage.ProjectKey) error {
	have, err := tx.SpaceList(ctx, key, "", s.maxSpaces)
	if err != nil || len(have) < s.maxSpaces {
		return err
	}
	e := ipam.Errorf(ipam.CodeQuotaExceeded, "Project %q has %s, which is the most on this server. Delete one first, or have the limit raised.",
		key.Name, usecase.Counted(int64(len(have)), "space"))
	e.Figures.Limit, e.Figures.Used, e.Figures.Requested = strconv.Itoa(s.maxSpaces), strconv.Itoa(len(have)), "1"
	return e
}

// GetSpace reads one space.
func (s *Access) GetSpace(ctx context.Context, project, name string) (ipam.Space, error) {
	_, key, err := s.Enter(ctx, tenancy.SpacesRead, project)
	if err != nil {
		return ipam.Space{}, err
	}
	return s.Store.SpaceGet(ctx, key, name)
}

// PatchSpace changes labels, annotations and spec by mutate, which must be pure. No difference: nothing is written.
func (s *Access) PatchSpace(ctx context.Context, project, name string, r usecase.Request, mutate func(ipam.Space) (ipam.Space, error)) (ipam.Space, error) {
	_, key, err := s.Enter(ctx, tenancy.SpacesWrite, project)
	if err != nil {
		return ipam.Space{}, err
	}
	revision, now := ipam.NewID(), s.Now()
	return usecase.Settled(ctx, s.Core, "space_patch", storage.Locks{}, r.DryRun, func(ctx context.Context, tx storage.Tx) (ipam.Space, error) {
		was, err := tx.SpaceGet(ctx, key, name)
		if err != nil {
			return was, err
		}
		if err := r.IfMatch.Check(was.Revision); err != nil {
			return was, err
		}
		next, err := mutate(was)
		if err != nil {
			return was, err
		}
		specChanged := next.Spec != was.Spec
		if !specChanged && usecase.SameMeta(was.Metadata, next.Metadata) {
			return was, nil
		}
		if err := usecase.CheckChanged(next.Metadata, next.Spec.Check()); err != nil {
			return was, err
		}
		usecase.Touch(&next.Metadata, was.Metadata, specChanged, revision, now)
		event, err := trail.Changed(ctx, now, key.ID, trail.KindSpace, name, trail.Recorded(was.Metadata, was.Spec), trail.Recorded(next.Metadata, next.Spec))
		if err != nil {
			return was, err
		}
		return next, tx.Write(ctx, storage.Changes{SpaceUpdate: &storage.SpaceUpdate{Was: was.Revision, Now: next}, Events: []ipam.Event{event}})
	}, func(ctx context.Context) (ipam.Space, bool, error) {
		got, found, err := storage.IgnoreNotFound(s.Store.SpaceGet(ctx, key, name))
		return got, found && got.Revision == revision, err
	})
}

// DeleteSpace removes a space from which nothing is carved, with its grants. The default space goes with its project only.
func (s *Access) DeleteSpace(ctx context.Context, project, name string, r usecase.Request) error {
	_, key, err := s.Enter(ctx, tenancy.SpacesWrite, project)
	if err != nil {
		return err
	}
	if name == ipam.DefaultSpace {
		return ipam.Errorf(ipam.CodeInUse, "The space %q belongs to its project and is deleted with it.", name)
	}
	first, err := s.Store.SpaceGet(ctx, key, name)
	if err != nil {
		return err
	}
	now := s.Now()
	_, err = usecase.Settled(ctx, s.Core, "space_delete", storage.Locks{Alone: spaceLocks(first)}, r.DryRun, func(ctx context.Context, tx storage.Tx) (struct{}, error) {
		var none struct{}
		sp, err := tx.SpaceGet(ctx, key, name)
		if err != nil {
			return none, err
		}
		if err := storage.Moved(first.UID, sp.UID); err != nil {
			return none, err
		}
		if err := r.IfMatch.Check(sp.Revision); err != nil {
			return none, err
		}
		free, err := emptySpace(ctx, tx, sp)
		if err != nil {
			return none, err
		}
		event, err := trail.Changed(ctx, now, key.ID, trail.KindSpace, name, trail.Recorded(sp.Metadata, sp.Spec), nil)
		if err != nil {
			return none, err
		}
		of := storage.GrantsOfSpace(sp)
		return none, tx.Write(ctx, storage.Changes{
			SpaceDelete: []ipam.Space{sp}, Free: free, Events: []ipam.Event{event}, AccessChanges: storage.AccessChanges{GrantsDelete: &of},
		})
	}, func(ctx context.Context) (struct{}, bool, error) {
		got, found, err := storage.IgnoreNotFound(s.Store.SpaceGet(ctx, key, name))
		return struct{}{}, !found || got.UID != first.UID, err
	})
	return err
}

// spaceLocks is a space, which grants are given of, and its two containers.
func spaceLocks(sp ipam.Space) []ipam.ID { return []ipam.ID{sp.UID, sp.ContainerV4, sp.ContainerV6} }

// emptySpace plans the removal of a space's free rows. A space with nothing carved from it is free as a whole; if it is
// not, it holds root pools and is refused.
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
		e := ipam.Errorf(ipam.CodeInUse, "Space %q still holds %s; delete them first.", sp.Name, usecase.Counted(pools, "root pool"))
		e.Figures.Pools = &pools
		return nil, e
	}
	return free, nil
}

// ListSpaces lists a project's spaces by name.
func (s *Access) ListSpaces(ctx context.Context, project string, f paging.Filter, limit int, cursor string) (paging.Page[ipam.Space], error) {
	_, key, err := s.Enter(ctx, tenancy.SpacesRead, project)
	if err != nil {
		return paging.Page[ipam.Space]{}, err
	}
	return paging.Scan(ctx, s.Searching, paging.ListOf("spaces", key.ID, f), cursor, limit, func(after string, n int) ([]ipam.Space, error) {
		return s.Store.SpaceList(ctx, key, after, n)
	}, func(p *ipam.Space) bool { return f.MatchesLabels(p.Labels) }, func(p ipam.Space) string { return p.Name })
}
