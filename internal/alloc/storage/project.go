package storage

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
)

// ProjectReader reads projects.
type ProjectReader interface {
	ProjectGet(ctx context.Context, name string) (ipam.Project, error)
	// ProjectList answers up to limit projects with names after the given one, in order of name.
	ProjectList(ctx context.Context, after string, limit int) ([]ipam.Project, error)
	// ProjectListNamed answers those of the names that exist, in order of name.
	ProjectListNamed(ctx context.Context, names []string) ([]ipam.Project, error)
	// ProjectHoldings counts what a project holds: pools, claims, and spaces besides the default one.
	ProjectHoldings(ctx context.Context, projectID ipam.ID) (Holdings, error)

	// NamesThere answers those of the names that mean something to the project: what it has, or may use. Whether something else has the name makes no difference.
	NamesThere(ctx context.Context, project ProjectKey, names []Named) ([]Named, error)
}

// SpaceReader reads spaces.
type SpaceReader interface {
	SpaceGet(ctx context.Context, project ProjectKey, name string) (ipam.Space, error)
	SpaceList(ctx context.Context, project ProjectKey, after string, limit int) ([]ipam.Space, error)
}

// ProjectKey is what statements need of a project.
type ProjectKey = ipam.ProjectKey

// Key of a project.
func Key(p ipam.Project) ProjectKey { return ProjectKey{ID: p.UID, Name: p.Name} }

// Holdings of a project.
type Holdings struct{ Pools, Claims, Spaces int64 }
