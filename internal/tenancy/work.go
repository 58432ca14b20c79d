package tenancy

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Work counts the work of a request. One unit of cost stands for 4 to 8 µs of a processor, in the server and the database together. The weights follow
// measurements (docs/evidence.md). docs/tenancy.md lists them.
type Work struct {
	Reads, Writes int // requests
	Blocks        int // that are claimed in a batch: each is a claim, an allocation and two records
	Rows          int // that are read, matching or not
	Probes        int // blocks around an address: the database makes some 4 look-ups by index for each
	Selectors     int // the database compares the labels of all the project's pools for each
	Counted       int // claims and pools that the database counts for a quota
	Bytes         int // of a body, which is read, checked and decoded
}

// The weights of work.
const (
	readCost  = 10
	writeCost = 20
	blockCost = 10
	kibCost   = 30
	rowCost   = 3
	probeCost = 3   // an IPv6 address has 129 blocks around it, which take 2 to 3 ms
	selCost   = 300 // a selector that none of 1,500 pools matches takes 1.5 to 2.5 ms

	countedForOne = 4 // 20,000 claims take 10 ms or more, 100,000 claims 50 ms or more
)

// Cost is what work costs. It does not depend on how busy anybody is, so that the same request costs the same each time.
func (w Work) Cost() int {
	return w.Reads*readCost + w.Writes*writeCost + w.Blocks*blockCost + w.Rows*rowCost + w.Probes*probeCost + w.Selectors*selCost +
		w.Counted/countedForOne + w.Bytes*kibCost/1024
}

// Budget is what a request may cost its caller and the caller's project.
type Budget interface {
	// Charge takes what work that is about to be done will cost, or answers an *ipam.Error with code rate_limited and takes nothing. Work
	// that costs more than a full budget may begin when the budget is full.
	Charge(w Work) error
	// Add takes what work has cost that could not be foreseen. It refuses nothing: the next request waits for it.
	Add(w Work)
	// Reserve sets memory aside for an answer, and waits for it for some seconds: the answers to one caller, to one project and to all callers may hold
	// a bounded number of bytes at once. keep gives back all but so many bytes; the caller must call it with 0 in the end. Without memory Reserve
	// returns an *ipam.Error with code rate_limited, or unavailable when others have it.
	Reserve(ctx context.Context, bytes int) (keep func(bytes int), err error)
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

func (boundless) Reserve(context.Context, int) (func(int), error) { return func(int) {}, nil }
