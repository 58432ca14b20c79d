package tenancy

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Visit is the context of one request, with what is found out about the request on its way: it stands for WithOrigin, WithAttempts, WithNow
// and WithPrincipal one upon the other, each of which would be a context of its own (and, over HTTP, another copy of the request).
//
// It is written by the goroutine that serves the request, before anybody else is given it to read.
type Visit struct {
	context.Context //nolint:containedctx // it is a context

	origin   Origin
	attempts Attempts
	now      bool
	known    bool
	who      Principal
	budget   Budget
	payer    ipam.ID
}

// NewVisit makes the context of a request that came from somewhere.
func NewVisit(ctx context.Context, o Origin) Visit { return Visit{Context: ctx, origin: o} }

// Try is WithAttempts and, when now is set, WithNow.
func (v *Visit) Try(a Attempts, now bool) { v.attempts, v.now = a, now }

// Identify is WithPrincipal; what was there to find out who it is has served its purpose.
func (v *Visit) Identify(p Principal) {
	v.who, v.known = p, true
	v.attempts, v.now = nil, false
}

// Spend is WithBudget.
func (v *Visit) Spend(b Budget) { v.budget = b }

// Bill is WithPayer.
func (v *Visit) Bill(project ipam.ID) { v.payer = project }

// VisitOf is the visit that a context belongs to, whatever was wrapped around it since; ok is false outside of one.
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
