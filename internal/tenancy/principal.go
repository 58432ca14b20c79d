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
	Subject string          // who, as it appears in createdBy and in the audit trail
	Method  string          // how it was authenticated: "dev", "api-key", "oidc"
	Roles   map[string]Role // by project; shared between requests, never written
}

// PlatformAdmin reports whether the caller may act in every project.
func (p Principal) PlatformAdmin() bool { return p.Roles[ipam.PlatformProject] == Admin }

// RoleIn is the caller's role in a project; "" when it has none there.
func (p Principal) RoleIn(project string) Role {
	if p.PlatformAdmin() {
		return Admin
	}
	return p.Roles[project]
}

// Projects are the names of the projects in which the caller holds a role, in order.
func (p Principal) Projects() []string { return slices.Sorted(maps.Keys(p.Roles)) }

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
