package alloc

import (
	"context"
	"strconv"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

type timestamp = time.Time

func (s *Service) defaultSpace(p ipam.Project, who tenancy.Principal) ipam.Space {
	return ipam.Space{
		Metadata:  s.fresh(ipam.Metadata{Name: ipam.DefaultSpace}, p.Name, s.region, who),
		ProjectID: p.UID, ContainerV4: ipam.NewID(), ContainerV6: ipam.NewID(),
		Spec: ipam.SpaceSpec{Description: "Made with the project."},
	}
}

// CreateSpace makes a routing domain whose two address families are wholly free.
func (s *Service) CreateSpace(ctx context.Context, project string, sp ipam.Space, r Request) (Result[ipam.Space], error) {
	who, key, err := s.enter(ctx, tenancy.SpacesWrite, project)
	if err != nil {
		return Result[ipam.Space]{}, err
	}
	if err := checkNew(&sp.Metadata, sp.Spec.Check()); err != nil {
		return Result[ipam.Space]{}, err
	}
	sp.Metadata = s.fresh(sp.Metadata, project, s.region, who)
	sp.ProjectID, sp.ContainerV4, sp.ContainerV6 = key.ID, ipam.NewID(), ipam.NewID()
	return once(ctx, s, key, r, &sp.Metadata, func(ctx context.Context) (ipam.Space, error) {
		stored, err := answers(key.ID, r, sp.CreatedAt, sp)
		if err != nil {
			return sp, err
		}
		locks := Locks{Alone: []ipam.ID{spacesOf(key.ID)}, Shared: []ipam.ID{key.ID}}
		return settled(ctx, s, "space_create", locks, r.DryRun, func(ctx context.Context, tx Tx) (ipam.Space, error) {
			if err := s.roomForSpace(ctx, tx, key); err != nil {
				return sp, err
			}
			event, err := changed(ctx, sp.CreatedAt, key.ID, kindSpace, sp.Name, nil, recorded(sp.Metadata, sp.Spec))
			if err != nil {
				return sp, err
			}
			return sp, tx.Write(ctx, Changes{
				SpaceInsert: []ipam.Space{sp}, Free: wholeSpace(sp), Answers: stored, Events: []ipam.Event{event},
			})
		}, func(ctx context.Context) (ipam.Space, bool, error) {
			got, found, err := ignoreNotFound(s.store.SpaceGet(ctx, key, sp.Name))
			return got, found && got.UID == sp.UID, err
		})
	})
}

// defaultMaxSpaces is how many spaces a project can have when nobody says otherwise.
const defaultMaxSpaces = 256

// spacesOf stands, in Locks, for how many spaces a project has.
func spacesOf(projectID ipam.ID) ipam.ID { return ipam.DerivedID(projectID, "spaces") }

// roomForSpace refuses a space that is one too many: quotas do not count them, and each has rows of its own.
func (s *Service) roomForSpace(ctx context.Context, tx Tx, key ProjectKey) error {
	have, err := tx.SpaceList(ctx, key, "", s.maxSpaces)
	if err != nil || len(have) < s.maxSpaces {
		return err
	}
	e := ipam.Errorf(ipam.CodeQuotaExceeded, "Project %q has %s, which is the most on this server. Delete one first, or have the limit raised.",
		key.Name, counted(int64(len(have)), "space"))
	e.Figures.Limit, e.Figures.Used, e.Figures.Requested = strconv.Itoa(s.maxSpaces), strconv.Itoa(len(have)), "1"
	return e
}

// GetSpace reads one space.
func (s *Service) GetSpace(ctx context.Context, project, name string) (ipam.Space, error) {
	_, key, err := s.enter(ctx, tenancy.SpacesRead, project)
	if err != nil {
		return ipam.Space{}, err
	}
	return s.store.SpaceGet(ctx, key, name)
}

// PatchSpace changes labels, annotations and spec by mutate, which must be pure. No difference: nothing is written.
func (s *Service) PatchSpace(ctx context.Context, project, name string, r Request, mutate func(ipam.Space) (ipam.Space, error)) (ipam.Space, error) {
	_, key, err := s.enter(ctx, tenancy.SpacesWrite, project)
	if err != nil {
		return ipam.Space{}, err
	}
	revision, now := ipam.NewID(), s.now()
	return settled(ctx, s, "space_patch", Locks{}, r.DryRun, func(ctx context.Context, tx Tx) (ipam.Space, error) {
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
		if !specChanged && sameMeta(was.Metadata, next.Metadata) {
			return was, nil
		}
		if err := checkChanged(next.Metadata, next.Spec.Check()); err != nil {
			return was, err
		}
		touch(&next.Metadata, was.Metadata, specChanged, revision, now)
		event, err := changed(ctx, now, key.ID, kindSpace, name, recorded(was.Metadata, was.Spec), recorded(next.Metadata, next.Spec))
		if err != nil {
			return was, err
		}
		return next, tx.Write(ctx, Changes{SpaceUpdate: &SpaceUpdate{Was: was.Revision, Now: next}, Events: []ipam.Event{event}})
	}, func(ctx context.Context) (ipam.Space, bool, error) {
		got, found, err := ignoreNotFound(s.store.SpaceGet(ctx, key, name))
		return got, found && got.Revision == revision, err
	})
}

// DeleteSpace removes a space from which nothing is carved, with its grants. The default space goes with its project only.
func (s *Service) DeleteSpace(ctx context.Context, project, name string, r Request) error {
	_, key, err := s.enter(ctx, tenancy.SpacesWrite, project)
	if err != nil {
		return err
	}
	if name == ipam.DefaultSpace {
		return ipam.Errorf(ipam.CodeInUse, "The space %q belongs to its project and is deleted with it.", name)
	}
	first, err := s.store.SpaceGet(ctx, key, name)
	if err != nil {
		return err
	}
	now := s.now()
	_, err = settled(ctx, s, "space_delete", Locks{Alone: spaceLocks(first)}, r.DryRun, func(ctx context.Context, tx Tx) (struct{}, error) {
		var none struct{}
		sp, err := tx.SpaceGet(ctx, key, name)
		if err != nil {
			return none, err
		}
		if err := moved(first.UID, sp.UID); err != nil {
			return none, err
		}
		if err := r.IfMatch.Check(sp.Revision); err != nil {
			return none, err
		}
		free, err := emptySpace(ctx, tx, sp)
		if err != nil {
			return none, err
		}
		event, err := changed(ctx, now, key.ID, kindSpace, name, recorded(sp.Metadata, sp.Spec), nil)
		if err != nil {
			return none, err
		}
		of := grantsOfSpace(sp)
		return none, tx.Write(ctx, Changes{
			SpaceDelete: []ipam.Space{sp}, Free: free, Events: []ipam.Event{event}, AccessChanges: AccessChanges{GrantsDelete: &of},
		})
	}, func(ctx context.Context) (struct{}, bool, error) {
		got, found, err := ignoreNotFound(s.store.SpaceGet(ctx, key, name))
		return struct{}{}, !found || got.UID != first.UID, err
	})
	return err
}

// spaceLocks is a space, which grants are given of, and its two containers.
func spaceLocks(sp ipam.Space) []ipam.ID { return []ipam.ID{sp.UID, sp.ContainerV4, sp.ContainerV6} }

// emptySpace plans the removal of a space's free rows. A space with nothing carved from it is free as a whole; if it is
// not, it holds root pools and is refused.
func emptySpace(ctx context.Context, tx Tx, sp ipam.Space) ([]FreeChange, error) {
	var free []FreeChange
	var pools int64
	for _, f := range []ipam.Family{ipam.IPv4, ipam.IPv6} {
		c := SpaceContainer(sp, f)
		held, err := tx.HeldCount(ctx, c)
		if err != nil {
			return nil, err
		}
		pools += held.RootPools
		free = append(free, FreeChange{Container: c, Delete: wholeBlock(c)})
	}
	if pools > 0 {
		e := ipam.Errorf(ipam.CodeInUse, "Space %q still holds %s; delete them first.", sp.Name, counted(pools, "root pool"))
		e.Figures.Pools = &pools
		return nil, e
	}
	return free, nil
}
