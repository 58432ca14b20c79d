package lookup

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// ProjectGet implements storage.Reader.
func (r Reader) ProjectGet(ctx context.Context, name string) (ipam.Project, error) {
	return readOne(ctx, r, "project_get", rows.Projects.Scan, NotFound("Project %q was not found.", name), name)
}

// ProjectList implements storage.Reader.
func (r Reader) ProjectList(ctx context.Context, after string, limit int) ([]ipam.Project, error) {
	return List(ctx, r, "project_list", rows.Projects.Scan, after, limit)
}

// ProjectListNamed implements storage.Reader.
func (r Reader) ProjectListNamed(ctx context.Context, names []string) ([]ipam.Project, error) {
	return List(ctx, r, "project_list_named", rows.Projects.Scan, names)
}

// ProjectHoldings implements storage.Reader.
func (r Reader) ProjectHoldings(ctx context.Context, projectID ipam.ID) (storage.Holdings, error) {
	return exactlyOne(ctx, r, "project_holdings", func(row pgx.CollectableRow) (h storage.Holdings, err error) {
		err = row.Scan(&h.Pools, &h.Claims, &h.Spaces)
		return h, err
	}, projectID)
}

func spaceIn(project string) pgx.RowToFunc[ipam.Space] {
	return func(row pgx.CollectableRow) (ipam.Space, error) {
		s, err := rows.Spaces.Scan(row)
		s.Project = project
		return s, err
	}
}

// SpaceGet implements storage.Reader.
func (r Reader) SpaceGet(ctx context.Context, project storage.ProjectKey, name string) (ipam.Space, error) {
	return readOne(ctx, r, "space_get", spaceIn(project.Name), NotFound("Space %s/%s was not found.", project.Name, name), project.ID, name)
}

// SpaceList implements storage.Reader.
func (r Reader) SpaceList(ctx context.Context, project storage.ProjectKey, after string, limit int) ([]ipam.Space, error) {
	return List(ctx, r, "space_list", spaceIn(project.Name), project.ID, after, limit)
}
