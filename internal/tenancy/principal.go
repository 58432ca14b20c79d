package tenancy

import (
	"context"
	"maps"
	"slices"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Principal is an authenticated caller, with the roles it holds at this moment. Authenticators make it, once for each
// request; from then on nothing about the caller is looked up.
type Principal struct {
	Subject string  // who, as it appears in createdBy and in the audit trail
	Method  string  // how it was authenticated: "dev", "api-key", "oidc"
	Key     ipam.ID // the API key that authenticated it; a later key of its name has another id. Zero: none did
	// Roles are those that a configuration gives, by the name of a project: they are in whichever project has the name.
	Roles map[string]Role
	// Held are those of a key or a member, by the name that the project had when they were read. Both maps are shared between requests,
	// and never written.
	Held map[string]Held
}

// Held is a role in one project, and in no later one of its name.
type Held struct {
	Project ipam.ID
	Role    Role
}

// PlatformAdmin reports whether the caller may act in every project. The project "platform" is never deleted, so its name is enough.
func (p Principal) PlatformAdmin() bool {
	return p.Roles[ipam.PlatformProject] == Admin || p.Held[ipam.PlatformProject].Role == Admin
}

// RoleIn is the role that the caller may have in a project of this name; "" when it has none there. The name may be another project's by now:
// RoleInThe decides.
func (p Principal) RoleIn(project string) Role {
	if p.PlatformAdmin() {
		return Admin
	}
	return Larger(p.Roles[project], p.Held[project].Role)
}

// RoleInThe is the caller's role in a project that was found; "" when it has none there.
func (p Principal) RoleInThe(project ipam.ProjectKey) Role {
	if p.PlatformAdmin() {
		return Admin
	}
	if held := p.Held[project.Name]; held.Project == project.ID {
		return Larger(p.Roles[project.Name], held.Role)
	}
	return p.Roles[project.Name]
}

// Projects are the names of the projects in which the caller can have a role, in order.
func (p Principal) Projects() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(p.Roles)), maps.Keys(p.Held))
	slices.Sort(names)
	return slices.Compact(names)
}

// System is the service itself: what it does at its start and in the background is recorded under this name.
func System() Principal {
	return Principal{Subject: "system", Method: "system", Roles: map[string]Role{ipam.PlatformProject: Admin}}
}

// Origin is where a request came from, for the audit trail.
type Origin struct {
	RequestID string
	Remote    string // the client's address
	Operation string // operationId of the contract
	Resource  string // name of what the path is about, below the project; empty when there is none
}

type (
	principalKey struct{}
	originKey    struct{}
)

// WithPrincipal puts the caller into a request's context.
func WithPrincipal(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, &p)
}

// From takes the caller out of a request's context; ok is false when nobody was authenticated.
func From(ctx context.Context) (p Principal, ok bool) {
	if found, ok := ctx.Value(principalKey{}).(*Principal); ok {
		return *found, true
	}
	return Principal{}, false
}

// WithOrigin puts into a request's context where it came from.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, &o)
}

// OriginOf is where the request came from; zero outside of a request.
func OriginOf(ctx context.Context) Origin {
	if o, ok := ctx.Value(originKey{}).(*Origin); ok {
		return *o
	}
	return Origin{}
}
