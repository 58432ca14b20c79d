package tenancy

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Work is what a request makes the service do. What it costs is counted in units of some 4 to 8 µs of a processor, here and in the database
// together. The weights of a KiB and of a row were chosen by what others noticed of them (docs/evidence.md); the others keep programs that mean
// no harm within the budgets, and attackers out. docs/tenancy.md lists them.
type Work struct {
	Reads, Writes int // requests
	Blocks        int // that are claimed in a batch: each is a claim, an allocation and two records
	Rows          int // that are looked at for a list, matching or not
	Bytes         int // of a body, which is read, checked and decoded
}

// The weights of work.
const (
	readCost  = 10
	writeCost = 20
	blockCost = 10
	kibCost   = 30
	rowCost   = 3
)

// Cost is what work costs. It does not depend on how busy anybody is, so that the same request costs the same each time.
func (w Work) Cost() int {
	return w.Reads*readCost + w.Writes*writeCost + w.Blocks*blockCost + w.Rows*rowCost + w.Bytes*kibCost/1024
}

// Budget is what a request may cost its caller and the caller's project.
type Budget interface {
	// Charge takes what work that is about to be done will cost, or answers an *ipam.Error with code rate_limited and takes nothing. Work
	// that costs more than a full budget may begin when the budget is full.
	Charge(w Work) error
	// Add takes what work has cost that could not be foreseen. It refuses nothing: the next request waits for it.
	Add(w Work)
}

type payerKey struct{}

// PayerOf returns the project that pays for a request: the project of the API key, or for people the project in the path. Background work has none: zero.
func PayerOf(ctx context.Context) ipam.ID {
	payer, _ := ctx.Value(payerKey{}).(ipam.ID)
	return payer
}

// WithPayer makes a project pay for the work in a context.
func WithPayer(ctx context.Context, project ipam.ID) context.Context {
	return context.WithValue(ctx, payerKey{}, project)
}

type budgetKey struct{}

// BudgetOf is what a request may cost; without limits, anything.
func BudgetOf(ctx context.Context) Budget {
	if b, ok := ctx.Value(budgetKey{}).(Budget); ok {
		return b
	}
	return boundless{}
}

// WithBudget bounds what a request may cost.
func WithBudget(ctx context.Context, b Budget) context.Context {
	return context.WithValue(ctx, budgetKey{}, b)
}

type boundless struct{}

func (boundless) Charge(Work) error { return nil }
func (boundless) Add(Work)          {}
