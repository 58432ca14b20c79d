package tenancy

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
)

// RequestContext is one request's context, with the facts that the server finds while it processes the request. It replaces the nested contexts from
// WithOrigin, WithAttempts, WithoutCache and WithPrincipal. Each of these functions would allocate another context and, over HTTP, copy the request
// again.
//
// Only the goroutine that serves the request writes it, and only before other goroutines may read it.
type RequestContext struct {
	context.Context //nolint:containedctx // RequestContext is a context

	origin    Origin
	attempts  Attempts
	skipCache bool
	known     bool
	who       Principal
	budget    Budget
	payer     ipam.ID
}

// NewRequestContext returns the context for a request with an origin.
func NewRequestContext(ctx context.Context, o Origin) RequestContext {
	return RequestContext{Context: ctx, origin: o}
}

// SetAttempts acts like WithAttempts. If skipCache is true, it also acts like WithoutCache.
func (v *RequestContext) SetAttempts(a Attempts, skipCache bool) {
	v.attempts, v.skipCache = a, skipCache
}

// SetPrincipal acts like WithPrincipal. It also clears the attempts, because they are only for the authentication.
func (v *RequestContext) SetPrincipal(p Principal) {
	v.who, v.known = p, true
	v.attempts, v.skipCache = nil, false
}

// SetBudget acts like WithBudget.
func (v *RequestContext) SetBudget(b Budget) { v.budget = b }

// SetPayer acts like WithPayer.
func (v *RequestContext) SetPayer(project ipam.ID) { v.payer = project }

// RequestContextOf returns the RequestContext inside a context. ok is false outside a request.
func RequestContextOf(ctx context.Context) (v *RequestContext, ok bool) {
	v, ok = ctx.Value(requestContextKey{}).(*RequestContext)
	return v, ok
}

type requestContextKey struct{}

// Value implements context.Context.
func (v *RequestContext) Value(key any) any {
	switch key.(type) {
	case requestContextKey:
		return v
	case originKey:
		return &v.origin
	case principalKey:
		if v.known {
			return &v.who
		}
	case budgetKey:
		if v.budget != nil {
			return v.budget
		}
	case payerKey:
		if !v.payer.IsZero() {
			return v.payer
		}
	case attemptsKey:
		if v.attempts != nil {
			return v.attempts
		}
	case withoutCacheKey:
		if v.skipCache {
			return true
		}
	}
	return v.Context.Value(key)
}
