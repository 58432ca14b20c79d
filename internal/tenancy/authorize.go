package tenancy

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Action is one thing that can be done. Each use case names the one it is.
type Action string

// The actions.
const (
	ProjectsRead     Action = "projects.read"
	ProjectsWrite    Action = "projects.write"
	SpacesRead       Action = "spaces.read"
	SpacesWrite      Action = "spaces.write"
	PoolsRead        Action = "pools.read"
	PoolsWrite       Action = "pools.write"
	ClaimsRead       Action = "claims.read"
	ClaimsWrite      Action = "claims.write"
	AllocationsRead  Action = "allocations.read"
	AllocationsWrite Action = "allocations.write"
)

// Authorize is the one place that decides. It answers who is asking, or unauthenticated when nobody was identified, or
// not_found when the caller may not know that the project exists. Today the only way in is development mode, whose
// caller is a platform admin; everybody else is refused.
func Authorize(ctx context.Context, _ Action, project string) (Principal, error) {
	p, ok := From(ctx)
	if !ok || p.Subject == "" {
		return Principal{}, ipam.Errorf(ipam.CodeUnauthenticated, "This request carries no valid credentials.")
	}
	if p.PlatformAdmin {
		return p, nil
	}
	return Principal{}, ipam.Errorf(ipam.CodeNotFound, "Project %q was not found.", project)
}
