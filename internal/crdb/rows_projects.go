package crdb

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

func scanProject(row pgx.Row) (ipam.Project, error) {
	var p ipam.Project
	err := row.Scan((*[16]byte)(&p.UID), &p.Name, &p.Spec.DisplayName, &p.Spec.Description, &p.Labels, &p.Annotations,
		&p.Generation, (*[16]byte)(&p.Revision), &p.CreatedAt, &p.UpdatedAt, &p.CreatedBy)
	normalize(&p.Metadata)
	return p, err
}

// normalize makes what was read equal to what was written.
func normalize(m *ipam.Metadata) {
	m.Labels, m.Annotations = emptyToNil(m.Labels), emptyToNil(m.Annotations)
	m.CreatedAt, m.UpdatedAt = m.CreatedAt.UTC(), m.UpdatedAt.UTC()
}

// ProjectGet implements storage.Reader.
func (r reader) ProjectGet(ctx context.Context, name string) (ipam.Project, error) {
	return one(ctx, r, "project_get", scanProject, notFound("Project %q was not found.", name), name)
}

// ProjectList implements storage.Reader.
func (r reader) ProjectList(ctx context.Context, after string, limit int) ([]ipam.Project, error) {
	return list(ctx, r, "project_list", scanProject, after, limit)
}

// ProjectListNamed implements storage.Reader.
func (r reader) ProjectListNamed(ctx context.Context, names []string) ([]ipam.Project, error) {
	return list(ctx, r, "project_list_named", scanProject, names)
}

// ProjectHoldings implements storage.Reader.
func (r reader) ProjectHoldings(ctx context.Context, projectID ipam.ID) (storage.Holdings, error) {
	return one(ctx, r, "project_holdings", func(row pgx.Row) (h storage.Holdings, err error) {
		err = row.Scan(&h.Pools, &h.Claims, &h.Spaces)
		return h, err
	}, notFound("Project %q was not found.", projectID), uuid(projectID))
}

func scanSpace(row pgx.Row) (ipam.Space, error) {
	var s ipam.Space
	err := row.Scan((*[16]byte)(&s.UID), (*[16]byte)(&s.ProjectID), &s.Name, (*[16]byte)(&s.ContainerV4), (*[16]byte)(&s.ContainerV6),
		&s.Region, &s.Spec.Description, &s.Labels, &s.Annotations, &s.Generation, (*[16]byte)(&s.Revision), &s.CreatedAt, &s.UpdatedAt, &s.CreatedBy)
	normalize(&s.Metadata)
	return s, err
}

func spaceIn(project string) func(pgx.Row) (ipam.Space, error) {
	return func(row pgx.Row) (ipam.Space, error) {
		s, err := scanSpace(row)
		s.Project = project
		return s, err
	}
}

// SpaceGet implements storage.Reader.
func (r reader) SpaceGet(ctx context.Context, project storage.ProjectKey, name string) (ipam.Space, error) {
	return one(ctx, r, "space_get", spaceIn(project.Name), notFound("Space %s/%s was not found.", project.Name, name), uuid(project.ID), name)
}

// SpaceList implements storage.Reader.
func (r reader) SpaceList(ctx context.Context, project storage.ProjectKey, after string, limit int) ([]ipam.Space, error) {
	return list(ctx, r, "space_list", spaceIn(project.Name), uuid(project.ID), after, limit)
}
