package tenancy

import (
	"context"
	"maps"
	"slices"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Principal is an authenticated caller with its current roles. An authenticator makes it once for each request, so that later steps need no look-up
// about the caller.
type Principal struct {
	Subject string  // name in createdBy and in the audit trail
	Method  string  // authentication method: "dev", "api-key", "oidc"
	Key     ipam.ID // the API key, or zero; a later key with the same name has another id
	// Roles has the roles from a configuration, by project name. Such a role applies to any project that has the name.
	Roles map[string]Role
	// Held has an API key's or a member's roles, by the name that the project had when the role was read. Requests share both maps and never change
	// them.
	Held map[string]Held
}

// Held is a role in one project. It does not apply to a later project with the same name.
type Held struct {
	Project ipam.ID
	Role    Role
}

// PlatformAdmin reports whether the caller may act in every project. It may compare the name "platform", because that project is never deleted.
func (p Principal) PlatformAdmin() bool {
	return p.Roles[ipam.PlatformProject] == Admin || p.Held[ipam.PlatformProject].Role == Admin
}

// RoleIn returns the role that the caller may have in a project with this name, or "". Another project may have the name by now, so only RoleByID
// decides.
func (p Principal) RoleIn(project string) Role {
	if p.PlatformAdmin() {
		return Admin
	}
	return Larger(p.Roles[project], p.Held[project].Role)
}

// RoleByID returns the caller's role in a project that a use case has found, or "".
func (p Principal) RoleByID(project ipam.ProjectKey) Role {
	if p.PlatformAdmin() {
		return Admin
	}
	if held := p.Held[project.Name]; held.Project == project.ID {
		return Larger(p.Roles[project.Name], held.Role)
	}
	return p.Roles[project.Name]
}

// Projects returns the projects in which the caller may have a role, sorted by name.
func (p Principal) Projects() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(p.Roles)), maps.Keys(p.Held))
	slices.Sort(names)
	return slices.Compact(names)
}

// System returns the service itself as a caller. The audit trail uses this name for the service's own actions, at its start and in the background.
func System() Principal {
	return Principal{Subject: "system", Method: "system", Roles: map[string]Role{ipam.PlatformProject: Admin}}
}

// Origin describes a request's source, for the audit trail.
type Origin struct {
	RequestID string
	Remote    string // the client's address
	Operation string // the contract's operationId
	Resource  string // the resource's name in the path, after the project; "" if there is none
}

type (
	principalKey struct{}
	originKey    struct{}
)

// WithPrincipal stores the caller in a request's context.
func WithPrincipal(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, &p)
}

// From returns the caller from a request's context. ok is false if the context has none.
func From(ctx context.Context) (p Principal, ok bool) {
	if found, ok := ctx.Value(principalKey{}).(*Principal); ok {
		return *found, true
	}
	return Principal{}, false
}

// WithOrigin stores the origin in a request's context.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, &o)
}

// OriginOf returns the request's origin. The origin is zero outside a request.
func OriginOf(ctx context.Context) Origin {
	if o, ok := ctx.Value(originKey{}).(*Origin); ok {
		return *o
	}
	return Origin{}
}
