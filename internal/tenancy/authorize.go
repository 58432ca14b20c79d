package tenancy

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Authorize makes every authorization decision. It returns a Pass for the caller, or an error:
//
//   - unauthenticated if the context has no caller
//   - not_found if the caller may not know that the project exists, with the same message as for a missing project
//   - permission_denied if the caller may know the project, but has a role that is too low
//
// Authorize reads only the context, so it knows a project only by its name. A use case finds the project and then calls CheckProject for the final
// decision.
func Authorize(ctx context.Context, action Action, project string) (Pass, error) {
	p, ok := From(ctx)
	if !ok || p.Subject == "" {
		return Pass{}, ipam.Errorf(ipam.CodeUnauthenticated, "This request carries no valid credentials; send an API key or a token in the header Authorization, as Bearer.")
	}
	if err := decide(p, action, project, p.RoleIn(project)); err != nil {
		return Pass{}, err
	}
	return Pass{Principal: p, Project: project, action: action}, nil
}

// Pass permits a caller to do one action in a project, of which only the name is known. The permission is valid only if the caller's role belongs to
// the project that has the name now. After a project is deleted, another tenant may create a project with the same name. A role in the first project
// gives no role in the second.
type Pass struct {
	Principal

	Project string // its name
	action  Action
}

// CheckProject checks the Pass against the project that a use case has found. It returns the error that Authorize would have returned for that
// project. Every use case calls it, and then continues with the project's id.
func (p Pass) CheckProject(project ipam.ProjectKey) error {
	return decide(p.Principal, p.action, project.Name, p.RoleByID(project))
}

// decide checks whether a caller with a role in the project may do an action.
func decide(p Principal, action Action, project string, role Role) error {
	need, known := permissions[action]
	if !known {
		return ipam.Errorf(ipam.CodePermissionDenied, "No role allows this action.")
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

// ProjectNotFound returns the error for a missing project. A project that the caller may not see has the same error, so that the caller cannot find
// out whether it exists.
func ProjectNotFound(name string) *ipam.Error {
	return ipam.Errorf(ipam.CodeNotFound, "Project %q was not found.", name)
}

func denied(p Principal, need Role, project string, have Role) error {
	if have == "" {
		return ipam.Errorf(ipam.CodePermissionDenied, "This needs the role %s in project %q. You are %s and hold no role there. Ask an admin of the project for the role.", need, project, p.Subject)
	}
	return ipam.Errorf(ipam.CodePermissionDenied, "This needs the role %s in project %q. You are %s, with the role %s there. Ask an admin of the project for the role.", need, project, p.Subject, have)
}
