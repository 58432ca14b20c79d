package tenancy

import "context"

// Principal is an authenticated caller.
type Principal struct {
	Subject       string // who, as it appears in createdBy
	Method        string // how it was authenticated: "dev"
	PlatformAdmin bool   // may act in every project
}

type principalKey struct{}

// WithPrincipal puts the caller into a request's context.
func WithPrincipal(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// From takes the caller out of a request's context; ok is false when nobody was authenticated.
func From(ctx context.Context) (p Principal, ok bool) {
	p, ok = ctx.Value(principalKey{}).(Principal)
	return p, ok
}
