package crdb

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// ProjectGet implements storage.Reader.
func (r reader) ProjectGet(ctx context.Context, name string) (ipam.Project, error) {
	return one(ctx, r, "project_get", rows.Projects.Scan, notFound("Project %q was not found.", name), name)
}

// ProjectList implements storage.Reader.
func (r reader) ProjectList(ctx context.Context, after string, limit int) ([]ipam.Project, error) {
	return list(ctx, r, "project_list", rows.Projects.Scan, after, limit)
}

// ProjectListNamed implements storage.Reader.
func (r reader) ProjectListNamed(ctx context.Context, names []string) ([]ipam.Project, error) {
	return list(ctx, r, "project_list_named", rows.Projects.Scan, names)
}

// ProjectHoldings implements storage.Reader.
func (r reader) ProjectHoldings(ctx context.Context, projectID ipam.ID) (storage.Holdings, error) {
	return one(ctx, r, "project_holdings", func(row pgx.CollectableRow) (h storage.Holdings, err error) {
		err = row.Scan(&h.Pools, &h.Claims, &h.Spaces)
		return h, err
	}, notFound("Project %q was not found.", projectID), rows.ID(projectID))
}

func spaceIn(project string) func(pgx.CollectableRow) (ipam.Space, error) {
	return func(row pgx.CollectableRow) (ipam.Space, error) {
		s, err := rows.Spaces.Scan(row)
		s.Project = project
		return s, err
	}
}

// SpaceGet implements storage.Reader.
func (r reader) SpaceGet(ctx context.Context, project storage.ProjectKey, name string) (ipam.Space, error) {
	return one(ctx, r, "space_get", spaceIn(project.Name), notFound("Space %s/%s was not found.", project.Name, name), rows.ID(project.ID), name)
}

// SpaceList implements storage.Reader.
func (r reader) SpaceList(ctx context.Context, project storage.ProjectKey, after string, limit int) ([]ipam.Space, error) {
	return list(ctx, r, "space_list", spaceIn(project.Name), rows.ID(project.ID), after, limit)
}
