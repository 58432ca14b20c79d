package access

import (
	"context"
	"math/big"
	"net/netip"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// CreateProject makes a project together with its space "default".
func (s *Access) CreateProject(ctx context.Context, p ipam.Project, r usecase.Request) (usecase.Result[ipam.Project], error) {
	pass, err := tenancy.Authorize(ctx, tenancy.ProjectsCreate, "")
	if err != nil {
		return usecase.Result[ipam.Project]{}, err
	}
	if err := usecase.CheckNew(&p.Metadata, p.Spec.Check()); err != nil {
		return usecase.Result[ipam.Project]{}, err
	}
	p.Metadata = s.Fresh(p.Metadata, "", "", pass.Principal)
	sp := s.defaultSpace(p, pass.Principal)
	// Keys of POST /projects are kept under the zero project: no project owns them.
	return usecase.Once(ctx, s.Core, storage.ProjectKey{}, r, &p.Metadata, func(ctx context.Context) (ipam.Project, error) {
		stored, err := usecase.Answers(ipam.ID{}, r, p.CreatedAt, p)
		if err != nil {
			return p, err
		}
		return usecase.Settled(ctx, s.Core, "project_create", storage.Locks{}, r.DryRun, func(ctx context.Context, tx storage.Tx) (ipam.Project, error) {
			event, err := projectEvent(ctx, tx, p.CreatedAt, p, nil, trail.Recorded(p.Metadata, p.Spec))
			if err != nil {
				return p, err
			}
			err = tx.Write(ctx, storage.Changes{
				ProjectInsert: &p, SpaceInsert: []ipam.Space{sp}, Free: wholeSpace(sp), Answers: stored, Events: []ipam.Event{event},
			})
			return p, err
		}, func(ctx context.Context) (ipam.Project, bool, error) {
			got, found, err := storage.IgnoreNotFound(s.Store.ProjectGet(ctx, p.Name))
			return got, found && got.UID == p.UID, err
		})
	})
}

// projectEvent is the record that a project was created or deleted. It is in the trail of the platform, because the project's
// own begins after the one and ends with the other; "platform" itself has no other trail.
func projectEvent(ctx context.Context, tx storage.Tx, at usecase.Timestamp, p ipam.Project, before, after *trail.Record) (ipam.Event, error) {
	recorded := p
	if p.Name != ipam.PlatformProject {
		var err error
		if recorded, err = tx.ProjectGet(ctx, ipam.PlatformProject); err != nil {
			return ipam.Event{}, err
		}
	}
	return trail.Changed(ctx, at, recorded.UID, trail.KindProject, p.Name, before, after)
}

// EnsurePlatform creates the project "platform" on the first start of an installation.
func (s *Access) EnsurePlatform(ctx context.Context) error {
	if _, err := s.Store.ProjectGet(ctx, ipam.PlatformProject); !ipam.IsCode(err, ipam.CodeNotFound) {
		return err
	}
	ctx = tenancy.WithPrincipal(ctx, tenancy.System())
	_, err := s.CreateProject(ctx, ipam.Project{
		Metadata: ipam.Metadata{Name: ipam.PlatformProject},
		Spec:     ipam.ProjectSpec{DisplayName: "Platform", Description: "The operators' project."},
	}, usecase.Request{})
	if ipam.IsCode(err, ipam.CodeAlreadyExists) { // another server was first
		return nil
	}
	return err
}

// GetProject reads one project.
func (s *Access) GetProject(ctx context.Context, name string) (ipam.Project, error) {
	pass, err := tenancy.Authorize(ctx, tenancy.ProjectsRead, name)
	if err != nil {
		return ipam.Project{}, err
	}
	return usecase.EnterBy(ctx, s.Store, pass)
}

// PatchProject changes labels, annotations and spec by mutate, which must be pure. No difference: nothing is written.
func (s *Access) PatchProject(ctx context.Context, name string, r usecase.Request, mutate func(ipam.Project) (ipam.Project, error)) (ipam.Project, error) {
	pass, err := tenancy.Authorize(ctx, tenancy.ProjectsWrite, name)
	if err != nil {
		return ipam.Project{}, err
	}
	revision, now := ipam.NewID(), s.Now()
	return usecase.Settled(ctx, s.Core, "project_patch", storage.Locks{}, r.DryRun, func(ctx context.Context, tx storage.Tx) (ipam.Project, error) {
		was, err := usecase.EnterBy(ctx, tx, pass)
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
		event, err := trail.Changed(ctx, now, was.UID, trail.KindProject, name, trail.Recorded(was.Metadata, was.Spec), trail.Recorded(next.Metadata, next.Spec))
		if err != nil {
			return was, err
		}
		return next, tx.Write(ctx, storage.Changes{ProjectUpdate: &storage.ProjectUpdate{Was: was.Revision, Now: next}, Events: []ipam.Event{event}})
	}, func(ctx context.Context) (ipam.Project, bool, error) {
		got, found, err := storage.IgnoreNotFound(s.Store.ProjectGet(ctx, name))
		return got, found && got.Revision == revision, err
	})
}

// DeleteProject removes an empty project with its default space, its classes, members, keys and quotas. Its trail and its history go
// too; that it was deleted is in the trail of the platform.
func (s *Access) DeleteProject(ctx context.Context, name string, r usecase.Request) error {
	pass, err := tenancy.Authorize(ctx, tenancy.ProjectsDelete, name)
	if err != nil {
		return err
	}
	if name == ipam.PlatformProject {
		return ipam.Errorf(ipam.CodeInUse, "The project %q always exists and cannot be deleted.", name)
	}
	first, err := usecase.EnterBy(ctx, s.Store, pass)
	if err != nil {
		return err
	}
	now := s.Now()
	space, err := s.Store.SpaceGet(ctx, storage.Key(first), ipam.DefaultSpace)
	if err != nil {
		return err
	}
	locks := storage.Locks{Alone: append(spaceLocks(space), first.UID)}
	_, err = usecase.Settled(ctx, s.Core, "project_delete", locks, r.DryRun, func(ctx context.Context, tx storage.Tx) (struct{}, error) {
		var none struct{}
		p, err := usecase.EnterBy(ctx, tx, pass)
		if err != nil {
			return none, err
		}
		if err := storage.Moved(first.UID, p.UID); err != nil {
			return none, err
		}
		if err := r.IfMatch.Check(p.Revision); err != nil {
			return none, err
		}
		if err := holdsNothing(ctx, tx, p); err != nil {
			return none, err
		}
		sp, err := tx.SpaceGet(ctx, storage.Key(p), ipam.DefaultSpace)
		if err != nil {
			return none, err
		}
		free, err := emptySpace(ctx, tx, sp)
		if err != nil {
			return none, err
		}
		event, err := projectEvent(ctx, tx, now, p, trail.Recorded(p.Metadata, p.Spec), nil)
		if err != nil {
			return none, err
		}
		of := storage.GrantsOfSpace(sp)
		return none, tx.Write(ctx, storage.Changes{
			ProjectDelete: &p, SpaceDelete: []ipam.Space{sp}, Free: free, Events: []ipam.Event{event},
			AccessChanges: storage.AccessChanges{AccessDelete: &p, GrantsDelete: &of},
		})
	}, func(ctx context.Context) (struct{}, bool, error) {
		got, found, err := storage.IgnoreNotFound(s.Store.ProjectGet(ctx, name))
		return struct{}{}, !found || got.UID != first.UID, err
	})
	return err
}

// holdsNothing refuses to delete a project that has anything left.
func holdsNothing(ctx context.Context, tx storage.Tx, p ipam.Project) error {
	holds, err := tx.ProjectHoldings(ctx, p.UID)
	if err != nil {
		return err
	}
	if holds != (storage.Holdings{}) {
		e := ipam.Errorf(ipam.CodeInUse, "Project %q still holds %s, %s and %s besides %q; delete them first.", p.Name,
			usecase.Counted(holds.Pools, "pool"), usecase.Counted(holds.Claims, "claim"), usecase.Counted(holds.Spaces, "space"), ipam.DefaultSpace)
		e.Figures.Pools, e.Figures.Claims, e.Figures.Spaces = &holds.Pools, &holds.Claims, &holds.Spaces
		return e
	}
	// Without pools and claims, what is left can only be in other projects: retained there, or the empty pools of its scopes.
	left, err := tx.UsageCount(ctx, storage.Key(p), ipam.QuotaScope{})
	if err != nil || left.IsZero() {
		return err
	}
	if left.Pools > 0 {
		e := ipam.Errorf(ipam.CodeInUse, "Project %q still has %s in other projects that shared classes carved for its scopes; empty ones go after the emptyPoolTTL of their class, or their owners can delete them.",
			p.Name, usecase.Counted(left.Pools, "pool"))
		e.Figures.Pools = &left.Pools
		return e
	}
	return ipam.Errorf(ipam.CodeInUse,
		"Project %q still holds %s in pools of other projects. Delete those allocations first: the project can, whose list of allocations has them with holder=self, and so can the owners of the pools.",
		p.Name, retainedAddresses(left.Addresses))
}

// retainedAddresses counts addresses that were retained, in words.
func retainedAddresses(n *big.Int) string {
	if n.IsInt64() && n.Int64() == 1 {
		return "1 address that was retained"
	}
	return n.String() + " addresses that were retained"
}

func wholeSpace(sp ipam.Space) []storage.FreeChange {
	v4, v6 := storage.SpaceContainer(sp, ipam.IPv4), storage.SpaceContainer(sp, ipam.IPv6)
	return []storage.FreeChange{
		{Container: v4, Insert: []netip.Prefix{v4.Block}},
		{Container: v6, Insert: []netip.Prefix{v6.Block}},
	}
}
