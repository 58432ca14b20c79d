package storage

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
)

// ProjectReader reads projects.
type ProjectReader interface {
	ProjectGet(ctx context.Context, name string) (ipam.Project, error)
	// ProjectList returns up to limit projects with names after the given one, in name order.
	ProjectList(ctx context.Context, after string, limit int) ([]ipam.Project, error)
	// ProjectListNamed returns the projects with these names, in name order.
	ProjectListNamed(ctx context.Context, names []string) ([]ipam.Project, error)
	// ProjectHoldings counts a project's pools, claims and spaces. It does not count the default space.
	ProjectHoldings(ctx context.Context, projectID ipam.ID) (Holdings, error)

	// NamesThere returns the names of existing objects that the project owns or may use. Objects that the project may not use do not affect the result.
	NamesThere(ctx context.Context, project ProjectKey, names []Named) ([]Named, error)
}

// SpaceReader reads spaces.
type SpaceReader interface {
	SpaceGet(ctx context.Context, project ProjectKey, name string) (ipam.Space, error)
	SpaceList(ctx context.Context, project ProjectKey, after string, limit int) ([]ipam.Space, error)
}

// ProjectKey contains a project's fields that statements need.
type ProjectKey = ipam.ProjectKey

// Key returns a project's key.
func Key(p ipam.Project) ProjectKey { return ProjectKey{ID: p.UID, Name: p.Name} }

// Holdings contains the number of a project's objects.
type Holdings struct{ Pools, Claims, Spaces int64 }
