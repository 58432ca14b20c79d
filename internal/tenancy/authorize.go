package tenancy

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Authorize is the one place that decides. It answers a pass for whoever is asking, or
//   - unauthenticated when nobody was identified,
//   - not_found when the caller may not know that the project exists, in the words for one that does not,
//   - permission_denied when the caller may know it, but holds too small a role.
//
// It reads nothing but the context, and so it knows a project by its name alone: the pass has the last word, once the project is found.
func Authorize(ctx context.Context, action Action, project string) (Pass, error) {
	p, ok := From(ctx)
	if !ok || p.Subject == "" {
		return Pass{}, ipam.Errorf(ipam.CodeUnauthenticated, "This request carries no valid credentials.")
	}
	if err := decide(p, action, project, p.RoleIn(project)); err != nil {
		return Pass{}, err
	}
	return Pass{Principal: p, Project: project, action: action}, nil
}

// Pass lets a caller do one action in the project of a name, if the role that it is for is in the project that has the name now. A project is
// deleted, and another tenant makes one of the same name: a role in the first is none in the second.
type Pass struct {
	Principal

	Project string // its name
	action  Action
}

// Into answers what Authorize would have, had it known which project has the name. Every use case asks it about the project that it has found,
// and goes on under that one's id.
func (p Pass) Into(project ipam.ProjectKey) error {
	return decide(p.Principal, p.action, project.Name, p.RoleInThe(project))
}

// decide says whether a caller may do an action, who has a role in the project that it is about.
func decide(p Principal, action Action, project string, role Role) error {
	need, known := permissions[action]
	if !known {
		return ipam.Errorf(ipam.CodePermissionDenied, "Nobody may do this.")
	}
	least, where := need.least, project
	switch need.reach {
	case anywhere:
		return nil
	case inPlatform:
		if p.PlatformAdmin() {
			return nil
		}
		least, where = Admin, ipam.PlatformProject
	case inProject:
		if role.Includes(least) {
			return nil
		}
	}
	if project != "" && role == "" {
		return ProjectNotFound(project)
	}
	if where != project {
		role = p.RoleIn(where)
	}
	return denied(p, least, where, role)
}

// ProjectNotFound says that a project is missing, or none of the caller's business: the two cannot be told apart.
func ProjectNotFound(name string) *ipam.Error {
	return ipam.Errorf(ipam.CodeNotFound, "Project %q was not found.", name)
}

func denied(p Principal, need Role, project string, have Role) error {
	if have == "" {
		return ipam.Errorf(ipam.CodePermissionDenied, "This needs the role %s in project %q. You are %s and hold no role there.", need, project, p.Subject)
	}
	return ipam.Errorf(ipam.CodePermissionDenied, "This needs the role %s in project %q. You are %s, with the role %s there.", need, project, p.Subject, have)
}
