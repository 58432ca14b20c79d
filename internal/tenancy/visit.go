package tenancy

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Visit is the context of one request with the facts found during its processing. It replaces nested contexts from WithOrigin, WithAttempts, WithNow
// and WithPrincipal, each of which would be another context (and, over HTTP, another copy of the request).
//
// The goroutine that serves the request writes it, before other goroutines may read it.
type Visit struct {
	context.Context //nolint:containedctx // Visit is a context

	origin   Origin
	attempts Attempts
	now      bool
	known    bool
	who      Principal
	budget   Budget
	payer    ipam.ID
}

// NewVisit makes the context of a request with an origin.
func NewVisit(ctx context.Context, o Origin) Visit { return Visit{Context: ctx, origin: o} }

// Try is WithAttempts and, if now is set, WithNow.
func (v *Visit) Try(a Attempts, now bool) { v.attempts, v.now = a, now }

// Identify is WithPrincipal; it also clears the attempts, which authentication no longer needs.
func (v *Visit) Identify(p Principal) {
	v.who, v.known = p, true
	v.attempts, v.now = nil, false
}

// Spend is WithBudget.
func (v *Visit) Spend(b Budget) { v.budget = b }

// Bill is WithPayer.
func (v *Visit) Bill(project ipam.ID) { v.payer = project }

// VisitOf returns the visit of a context, through all wrappers; ok is false outside a request.
func VisitOf(ctx context.Context) (v *Visit, ok bool) {
	v, ok = ctx.Value(visitKey{}).(*Visit)
	return v, ok
}

type visitKey struct{}

// Value implements context.Context.
func (v *Visit) Value(key any) any {
	switch key.(type) {
	case visitKey:
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
	case nowKey:
		if v.now {
			return true
		}
	}
	return v.Context.Value(key)
}
