package tenancy

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Authorize is the one place that decides. It answers who is asking, or
//   - unauthenticated when nobody was identified,
//   - not_found when the caller may not know that the project exists, in the words for one that does not,
//   - permission_denied when the caller may know it, but holds too small a role.
//
// It reads nothing but the context.
func Authorize(ctx context.Context, action Action, project string) (Principal, error) {
	p, ok := From(ctx)
	if !ok || p.Subject == "" {
		return Principal{}, ipam.Errorf(ipam.CodeUnauthenticated, "This request carries no valid credentials.")
	}
	need, known := permissions[action]
	if !known {
		return Principal{}, ipam.Errorf(ipam.CodePermissionDenied, "Nobody may do this.")
	}
	switch need.reach {
	case anywhere:
		return p, nil
	case inPlatform:
		if p.PlatformAdmin() {
			return p, nil
		}
		if project != "" && p.RoleIn(project) == "" {
			return Principal{}, ProjectNotFound(project)
		}
		return Principal{}, denied(p, Admin, ipam.PlatformProject)
	case inProject:
	}
	role := p.RoleIn(project)
	if role == "" {
		return Principal{}, ProjectNotFound(project)
	}
	if !role.Includes(need.least) {
		return Principal{}, denied(p, need.least, project)
	}
	return p, nil
}

// ProjectNotFound says that a project is missing, or none of the caller's business: the two cannot be told apart.
func ProjectNotFound(name string) *ipam.Error {
	return ipam.Errorf(ipam.CodeNotFound, "Project %q was not found.", name)
}

func denied(p Principal, need Role, project string) error {
	have := p.RoleIn(project)
	if have == "" {
		return ipam.Errorf(ipam.CodePermissionDenied, "This needs the role %s in project %q. You are %s and hold no role there.", need, project, p.Subject)
	}
	return ipam.Errorf(ipam.CodePermissionDenied, "This needs the role %s in project %q. You are %s, with the role %s there.", need, project, p.Subject, have)
}
