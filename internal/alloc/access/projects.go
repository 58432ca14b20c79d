package access

import (
	"context"
	"math/big"
	"net/netip"
	"slices"
	"sort"

	"github.com/carve-ipam/carve/internal/alloc/kind"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// Projects contains the use cases for projects.
type Projects struct{ *usecase.Core }

// enter authorizes an action on a project. The returned kind.Kind finds a project only if the caller has access to it.
func (s *Projects) enter(ctx context.Context, action tenancy.Action, name string) (kind.Kind[ipam.Project], error) {
	pass, err := tenancy.Authorize(ctx, action, name)
	projects := s.projects()
	projects.Find = func(read storage.Reader) kind.Finder[ipam.Project] {
		return func(ctx context.Context, _ storage.ProjectKey, _ string) (ipam.Project, error) {
			return usecase.EnterBy(ctx, read, pass)
		}
	}
	return projects, err
}

func (s *Projects) projects() kind.Kind[ipam.Project] {
	return kind.Kind[ipam.Project]{
		Core: s.Core, Name: trail.KindProject, Op: "project",
		Head: func(p *ipam.Project) *ipam.Metadata { return &p.Metadata },
		Find: func(read storage.Reader) kind.Finder[ipam.Project] {
			return func(ctx context.Context, _ storage.ProjectKey, name string) (ipam.Project, error) {
				return read.ProjectGet(ctx, name)
			}
		},
		Write: func(ch *storage.Changes, was, now *ipam.Project) {
			switch {
			case was == nil:
				ch.ProjectInsert = now
			case now == nil:
				ch.ProjectDelete = was
			default:
				ch.ProjectUpdate = &storage.ProjectUpdate{Was: was.Revision, Now: *now}
			}
		},
		Record: func(p ipam.Project) *trail.Record { return trail.Recorded(p.Metadata, p.Spec) },
		Trail:  trailOfProject,
		Check:  func(_ storage.ProjectKey, p ipam.Project) error { return p.Spec.Check() }, SameSpec: func(a, b ipam.Project) bool { return a.Spec == b.Spec },
	}
}

// trailOfProject returns the project whose audit trail records a change. A project's own trail records its updates. The trail of "platform" records
// when projects are created and deleted, because a project's own trail exists only between the two. The project "platform" records everything in its
// own trail.
func trailOfProject(ctx context.Context, tx storage.Tx, was, now *ipam.Project) (ipam.ID, error) {
	p := now
	if was != nil {
		p = was
	}
	if (was != nil && now != nil) || p.Name == ipam.PlatformProject {
		return p.UID, nil
	}
	platform, err := tx.ProjectGet(ctx, ipam.PlatformProject)
	return platform.UID, err
}

// CreateProject makes a project and its space "default".
func (s *Projects) CreateProject(ctx context.Context, p ipam.Project, r usecase.Request) (usecase.Result[ipam.Project], error) {
	pass, err := tenancy.Authorize(ctx, tenancy.ProjectsCreate, "")
	if err != nil {
		return usecase.Result[ipam.Project]{}, err
	}
	if err := usecase.CheckNew(&p.Metadata, p.Spec.Check()); err != nil {
		return usecase.Result[ipam.Project]{}, err
	}
	p.Metadata = s.NewMetadata(p.Metadata, "", "", pass.Principal)
	sp := ipam.Space{
		Metadata:  s.NewMetadata(ipam.Metadata{Name: ipam.DefaultSpace}, p.Name, s.Region, pass.Principal),
		ProjectID: p.UID, ContainerV4: ipam.NewID(), ContainerV6: ipam.NewID(),
		Spec: ipam.SpaceSpec{Description: "Made with the project."},
	}
	// The idempotency keys for POST /projects belong to the zero project, because the new project does not exist yet.
	with := func(context.Context, storage.Tx, *ipam.Project, *ipam.Project) (storage.Changes, error) {
		return storage.Changes{SpaceInsert: []ipam.Space{sp}, Free: wholeSpace(sp)}, nil
	}
	return s.projects().Create(ctx, storage.ProjectKey{}, p, r, storage.Locks{}, with)
}

// EnsurePlatform creates the project "platform" when an installation starts for the first time.
func (s *Projects) EnsurePlatform(ctx context.Context) error {
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
func (s *Projects) GetProject(ctx context.Context, name string) (ipam.Project, error) {
	projects, err := s.enter(ctx, tenancy.ProjectsRead, name)
	if err != nil {
		return ipam.Project{}, err
	}
	return projects.Find(s.Store)(ctx, storage.ProjectKey{}, name)
}

// PatchProject applies the function mutate to labels, annotations and spec. mutate must be pure. If mutate changes nothing, PatchProject writes
// nothing.
func (s *Projects) PatchProject(ctx context.Context, name string, r usecase.Request, mutate func(ipam.Project) (ipam.Project, error)) (ipam.Project, error) {
	projects, err := s.enter(ctx, tenancy.ProjectsWrite, name)
	if err != nil {
		return ipam.Project{}, err
	}
	return projects.Patch(ctx, storage.ProjectKey{}, name, r, storage.Locks{}, mutate, nil)
}

// DeleteProject deletes an empty project with its default space, classes, members, keys, quotas, audit trail and history. The audit trail of the
// project "platform" records the deletion.
func (s *Projects) DeleteProject(ctx context.Context, name string, r usecase.Request) error {
	projects, err := s.enter(ctx, tenancy.ProjectsDelete, name)
	if err != nil {
		return err
	}
	if name == ipam.PlatformProject {
		return ipam.Errorf(ipam.CodeInUse, "The project %q always exists and cannot be deleted.", name)
	}
	locks := func(p ipam.Project) (storage.Locks, error) {
		sp, err := s.Store.SpaceGet(ctx, storage.Key(p), ipam.DefaultSpace)
		return storage.Locks{Exclusive: append(spaceLocks(sp), p.UID)}, err
	}
	with := func(ctx context.Context, tx storage.Tx, p, _ *ipam.Project) (storage.Changes, error) {
		if err := holdsNothing(ctx, tx, *p); err != nil {
			return storage.Changes{}, err
		}
		sp, err := tx.SpaceGet(ctx, storage.Key(*p), ipam.DefaultSpace)
		if err != nil {
			return storage.Changes{}, err
		}
		free, err := emptySpace(ctx, tx, sp)
		of := storage.GrantsOfSpace(sp)
		return storage.Changes{
			SpaceDelete: []ipam.Space{sp}, Free: free, AccessChanges: storage.AccessChanges{AccessDelete: p, GrantsDelete: &of},
		}, err
	}
	return projects.Delete(ctx, storage.ProjectKey{}, name, r, locks, with)
}

// ListProjects lists the projects in which the caller has a role, by name. A platform admin gets all projects.
func (s *Projects) ListProjects(ctx context.Context, f paging.Filter, limit int, cursor string, r usecase.Reading,
) (paging.Page[ipam.Project], error) {
	who, err := tenancy.Authorize(ctx, tenancy.ProjectsList, "")
	if err != nil {
		return paging.Page[ipam.Project]{}, err
	}
	own, read := who.Projects(), s.View(r)
	return paging.Scan(ctx, s.Searching, paging.ListOf("projects", f), cursor, limit, func(after string, n int) ([]ipam.Project, error) {
		if who.PlatformAdmin() {
			return read.ProjectList(ctx, after, n)
		}
		return listNamed(ctx, read, who.Principal, own[sort.Search(len(own), func(i int) bool { return own[i] > after }):], n)
	}, func(p *ipam.Project) bool { return f.MatchesLabels(p.Labels) }, func(p ipam.Project) string { return p.Name })
}

// listNamed returns the first n existing projects in which the caller has a role, by name. If the caller's role belongs to a deleted project,
// listNamed skips a new project with the same name.
func listNamed(ctx context.Context, read storage.Reader, who tenancy.Principal, names []string, n int) ([]ipam.Project, error) {
	if len(names) == 0 {
		return nil, nil
	}
	found, err := read.ProjectListNamed(ctx, names)
	found = slices.DeleteFunc(found, func(p ipam.Project) bool { return who.RoleByID(storage.Key(p)) == "" })
	return found[:min(n, len(found))], err
}

// holdsNothing refuses to delete a project that is not empty.
func holdsNothing(ctx context.Context, tx storage.Tx, p ipam.Project) error {
	holds, err := tx.ProjectHoldings(ctx, p.UID)
	if err != nil {
		return err
	}
	if holds != (storage.Holdings{}) {
		e := ipam.Errorf(ipam.CodeInUse, "Project %q still holds %s, %s and %s; delete them first. Its space %q does not count.", p.Name,
			usecase.CountOf(holds.Pools, "pool"), usecase.CountOf(holds.Claims, "claim"), usecase.CountOf(holds.Spaces, "space"), ipam.DefaultSpace)
		e.Figures.Pools, e.Figures.Claims, e.Figures.Spaces = &holds.Pools, &holds.Claims, &holds.Spaces
		return e
	}
	// A project without pools and claims may still use addresses in other projects. Such addresses are in retained blocks, or in empty pools for the
	// project's scopes.
	left, err := tx.UsageCount(ctx, storage.Key(p), ipam.QuotaScope{})
	if err != nil || left.IsZero() {
		return err
	}
	if left.Pools > 0 {
		e := ipam.Errorf(ipam.CodeInUse, "Project %q still has %s in other projects, which Carve made for its scopes of shared classes. Carve deletes an empty pool after the emptyPoolTTL of its class; the owner of the pool can delete it earlier.",
			p.Name, usecase.CountOf(left.Pools, "pool"))
		e.Figures.Pools = &left.Pools
		return e
	}
	return ipam.Errorf(ipam.CodeInUse,
		"Project %q still holds %s in pools of other projects. Delete those allocations first; list them with holder=self. The owners of the pools can delete them too.",
		p.Name, retainedAddresses(left.Addresses))
}

func retainedAddresses(n *big.Int) string {
	if n.IsInt64() && n.Int64() == 1 {
		return "1 retained address"
	}
	return n.String() + " retained addresses"
}

func wholeSpace(sp ipam.Space) []storage.FreeChange {
	v4, v6 := storage.SpaceContainer(sp, ipam.IPv4), storage.SpaceContainer(sp, ipam.IPv6)
	return []storage.FreeChange{
		{Container: v4, Insert: []netip.Prefix{v4.Block}},
		{Container: v6, Insert: []netip.Prefix{v6.Block}},
	}
}
