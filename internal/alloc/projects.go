package alloc

import (
	"context"
	"maps"
	"math/big"
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// CreateProject makes a project together with its space "default".
func (s *Service) CreateProject(ctx context.Context, p ipam.Project, r Request) (Result[ipam.Project], error) {
	pass, err := tenancy.Authorize(ctx, tenancy.ProjectsCreate, "")
	if err != nil {
		return Result[ipam.Project]{}, err
	}
	if err := checkNew(&p.Metadata, p.Spec.Check()); err != nil {
		return Result[ipam.Project]{}, err
	}
	p.Metadata = s.fresh(p.Metadata, "", "", pass.Principal)
	sp := s.defaultSpace(p, pass.Principal)
	// Keys of POST /projects are kept under the zero project: no project owns them.
	return once(ctx, s, ProjectKey{}, r, &p.Metadata, func(ctx context.Context) (ipam.Project, error) {
		stored, err := answers(ipam.ID{}, r, p.CreatedAt, p)
		if err != nil {
			return p, err
		}
		return settled(ctx, s, "project_create", Locks{}, r.DryRun, func(ctx context.Context, tx Tx) (ipam.Project, error) {
			event, err := projectEvent(ctx, tx, p.CreatedAt, p, nil, recorded(p.Metadata, p.Spec))
			if err != nil {
				return p, err
			}
			err = tx.Write(ctx, Changes{
				ProjectInsert: &p, SpaceInsert: []ipam.Space{sp}, Free: wholeSpace(sp), Answers: stored, Events: []ipam.Event{event},
			})
			return p, err
		}, func(ctx context.Context) (ipam.Project, bool, error) {
			got, found, err := ignoreNotFound(s.store.ProjectGet(ctx, p.Name))
			return got, found && got.UID == p.UID, err
		})
	})
}

// projectEvent is the record that a project was created or deleted. It is in the trail of the platform, because the project's
// own begins after the one and ends with the other; "platform" itself has no other trail.
func projectEvent(ctx context.Context, tx Tx, at timestamp, p ipam.Project, before, after *record) (ipam.Event, error) {
	trail := p
	if p.Name != ipam.PlatformProject {
		var err error
		if trail, err = tx.ProjectGet(ctx, ipam.PlatformProject); err != nil {
			return ipam.Event{}, err
		}
	}
	return changed(ctx, at, trail.UID, kindProject, p.Name, before, after)
}

// EnsurePlatform creates the project "platform" on the first start of an installation.
func (s *Service) EnsurePlatform(ctx context.Context) error {
	if _, err := s.store.ProjectGet(ctx, ipam.PlatformProject); !ipam.IsCode(err, ipam.CodeNotFound) {
		return err
	}
	ctx = tenancy.WithPrincipal(ctx, tenancy.System())
	_, err := s.CreateProject(ctx, ipam.Project{
		Metadata: ipam.Metadata{Name: ipam.PlatformProject},
		Spec:     ipam.ProjectSpec{DisplayName: "Platform", Description: "The operators' project."},
	}, Request{})
	if ipam.IsCode(err, ipam.CodeAlreadyExists) { // another server was first
		return nil
	}
	return err
}

// GetProject reads one project.
func (s *Service) GetProject(ctx context.Context, name string) (ipam.Project, error) {
	pass, err := tenancy.Authorize(ctx, tenancy.ProjectsRead, name)
	if err != nil {
		return ipam.Project{}, err
	}
	return enterBy(ctx, s.store, pass)
}

// PatchProject changes labels, annotations and spec by mutate, which must be pure. No difference: nothing is written.
func (s *Service) PatchProject(ctx context.Context, name string, r Request, mutate func(ipam.Project) (ipam.Project, error)) (ipam.Project, error) {
	pass, err := tenancy.Authorize(ctx, tenancy.ProjectsWrite, name)
	if err != nil {
		return ipam.Project{}, err
	}
	revision, now := ipam.NewID(), s.now()
	return settled(ctx, s, "project_patch", Locks{}, r.DryRun, func(ctx context.Context, tx Tx) (ipam.Project, error) {
		was, err := enterBy(ctx, tx, pass)
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
		event, err := changed(ctx, now, was.UID, kindProject, name, recorded(was.Metadata, was.Spec), recorded(next.Metadata, next.Spec))
		if err != nil {
			return was, err
		}
		return next, tx.Write(ctx, Changes{ProjectUpdate: &ProjectUpdate{Was: was.Revision, Now: next}, Events: []ipam.Event{event}})
	}, func(ctx context.Context) (ipam.Project, bool, error) {
		got, found, err := ignoreNotFound(s.store.ProjectGet(ctx, name))
		return got, found && got.Revision == revision, err
	})
}

// DeleteProject removes an empty project with its default space, its classes, members, keys and quotas. Its trail and its history go
// too; that it was deleted is in the trail of the platform.
func (s *Service) DeleteProject(ctx context.Context, name string, r Request) error {
	pass, err := tenancy.Authorize(ctx, tenancy.ProjectsDelete, name)
	if err != nil {
		return err
	}
	if name == ipam.PlatformProject {
		return ipam.Errorf(ipam.CodeInUse, "The project %q always exists and cannot be deleted.", name)
	}
	first, err := enterBy(ctx, s.store, pass)
	if err != nil {
		return err
	}
	now := s.now()
	space, err := s.store.SpaceGet(ctx, Key(first), ipam.DefaultSpace)
	if err != nil {
		return err
	}
	locks := Locks{Alone: append(spaceLocks(space), first.UID)}
	_, err = settled(ctx, s, "project_delete", locks, r.DryRun, func(ctx context.Context, tx Tx) (struct{}, error) {
		var none struct{}
		p, err := enterBy(ctx, tx, pass)
		if err != nil {
			return none, err
		}
		if err := moved(first.UID, p.UID); err != nil {
			return none, err
		}
		if err := r.IfMatch.Check(p.Revision); err != nil {
			return none, err
		}
		if err := holdsNothing(ctx, tx, p); err != nil {
			return none, err
		}
		sp, err := tx.SpaceGet(ctx, Key(p), ipam.DefaultSpace)
		if err != nil {
			return none, err
		}
		free, err := emptySpace(ctx, tx, sp)
		if err != nil {
			return none, err
		}
		event, err := projectEvent(ctx, tx, now, p, recorded(p.Metadata, p.Spec), nil)
		if err != nil {
			return none, err
		}
		of := grantsOfSpace(sp)
		return none, tx.Write(ctx, Changes{
			ProjectDelete: &p, SpaceDelete: []ipam.Space{sp}, Free: free, Events: []ipam.Event{event},
			AccessChanges: AccessChanges{AccessDelete: &p, GrantsDelete: &of},
		})
	}, func(ctx context.Context) (struct{}, bool, error) {
		got, found, err := ignoreNotFound(s.store.ProjectGet(ctx, name))
		return struct{}{}, !found || got.UID != first.UID, err
	})
	return err
}

// holdsNothing refuses to delete a project that has anything left.
func holdsNothing(ctx context.Context, tx Tx, p ipam.Project) error {
	holds, err := tx.ProjectHoldings(ctx, p.UID)
	if err != nil {
		return err
	}
	if holds != (Holdings{}) {
		e := ipam.Errorf(ipam.CodeInUse, "Project %q still holds %s, %s and %s besides %q; delete them first.", p.Name,
			counted(holds.Pools, "pool"), counted(holds.Claims, "claim"), counted(holds.Spaces, "space"), ipam.DefaultSpace)
		e.Figures.Pools, e.Figures.Claims, e.Figures.Spaces = &holds.Pools, &holds.Claims, &holds.Spaces
		return e
	}
	// Without pools and claims, what is left can only be in other projects: retained there, or the empty pools of its scopes.
	left, err := tx.UsageCount(ctx, Key(p), ipam.QuotaScope{})
	if err != nil || left.IsZero() {
		return err
	}
	if left.Pools > 0 {
		e := ipam.Errorf(ipam.CodeInUse, "Project %q still has %s in other projects that shared classes carved for its scopes; empty ones go after the emptyPoolTTL of their class, or their owners can delete them.",
			p.Name, counted(left.Pools, "pool"))
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

// checkNew validates the caller's part of new metadata and completes a generated name (already in Name).
func checkNew(m *ipam.Metadata, spec error) error {
	if !ipam.ValidName(m.Name) {
		return ipam.Invalid("/metadata/name", "must be a DNS label: 1 to 63 of a-z, 0-9 and -, beginning and ending with a letter or digit.")
	}
	return checkChanged(*m, spec)
}

func checkChanged(m ipam.Metadata, spec error) error {
	if err := ipam.CheckLabels("/metadata/labels", m.Labels); err != nil {
		return err
	}
	if err := ipam.CheckAnnotations("/metadata/annotations", m.Annotations); err != nil {
		return err
	}
	return spec
}

// sameMeta compares what a caller may write of metadata; nil and empty maps are the same.
func sameMeta(a, b ipam.Metadata) bool {
	return maps.Equal(a.Labels, b.Labels) && maps.Equal(a.Annotations, b.Annotations)
}

// touch fills in the server's part of changed metadata.
func touch(next *ipam.Metadata, was ipam.Metadata, specChanged bool, revision ipam.ID, now timestamp) {
	labels, annotations := next.Labels, next.Annotations
	*next = was
	next.Labels, next.Annotations = labels, annotations
	next.Revision, next.UpdatedAt = revision, now
	if specChanged {
		next.Generation++
	}
}

func wholeSpace(sp ipam.Space) []FreeChange {
	v4, v6 := SpaceContainer(sp, ipam.IPv4), SpaceContainer(sp, ipam.IPv6)
	return []FreeChange{
		{Container: v4, Insert: []netip.Prefix{v4.Block}},
		{Container: v6, Insert: []netip.Prefix{v6.Block}},
	}
}
