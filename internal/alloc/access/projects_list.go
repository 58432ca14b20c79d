package access

import (
	"context"
	"slices"
	"sort"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// ListProjects lists by name the projects that the caller has a role in: all of them for a platform admin.
func (s *Access) ListProjects(ctx context.Context, f paging.Filter, limit int, cursor string) (paging.Page[ipam.Project], error) {
	who, err := tenancy.Authorize(ctx, tenancy.ProjectsList, "")
	if err != nil {
		return paging.Page[ipam.Project]{}, err
	}
	own := who.Projects()
	return paging.Scan(ctx, s.Searching, paging.ListOf("projects", f), cursor, limit, func(after string, n int) ([]ipam.Project, error) {
		if who.PlatformAdmin() {
			return s.Store.ProjectList(ctx, after, n)
		}
		return s.listNamed(ctx, who.Principal, own[sort.Search(len(own), func(i int) bool { return own[i] > after }):], n)
	}, func(p *ipam.Project) bool { return f.MatchesLabels(p.Labels) }, func(p ipam.Project) string { return p.Name })
}

// listNamed answers the first n of the projects that exist and that the caller has a role in, by name. A role may be in a project that does not
// exist any more, whose name another one has.
func (s *Access) listNamed(ctx context.Context, who tenancy.Principal, names []string, n int) ([]ipam.Project, error) {
	if len(names) == 0 {
		return nil, nil
	}
	found, err := s.Store.ProjectListNamed(ctx, names)
	found = slices.DeleteFunc(found, func(p ipam.Project) bool { return who.RoleInThe(storage.Key(p)) == "" })
	return found[:min(n, len(found))], err
}
