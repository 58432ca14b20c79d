package tenancy

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Work counts the work of a request. One unit of cost is 4 to 8 µs of a processor, in the server and the database together. The weights come from
// measurements (docs/evidence.md). docs/tenancy.md lists them.
type Work struct {
	Reads, Writes int // requests; a write of a claim shares a transaction with others
	Transactions  int // writes that need a transaction of their own
	DryRuns       int // dry runs: such a transaction does not wait for the disk, so one caller can send many
	Blocks        int // blocks claimed in a batch: each is a claim, an allocation and two records
	Rows          int // rows read, even if they do not match the filter
	Probes        int // blocks around an address: the database makes some 4 index look-ups for each
	Selectors     int // label selectors: for each, the database compares the labels of all the project's pools
	Counted       int // claims and pools that the database counts for a quota
	Bytes         int // bytes of a body, which the server reads, validates and decodes
}

// The cost of each kind of work.
const (
	readCost  = 10
	writeCost = 20
	ownCost   = 100 // takes 1.4 to 2.9 ms and waits for the disk in COMMIT, so a caller sends fewer of them
	dryCost   = 250 // takes 1.4 to 2.4 ms
	blockCost = 10
	kibCost   = 30
	rowCost   = 3
	probeCost = 3   // an IPv6 address has 129 blocks around it, which take 2 to 3 ms
	selCost   = 300 // a selector that none of 1,500 pools matches takes 1.5 to 2.5 ms

	countedForOne = 4 // claims and pools for one unit: 20,000 claims take 10 ms or more, 100,000 claims 50 ms or more
)

// Cost returns the cost of the work. The same request always has the same cost, because the cost does not depend on the load.
func (w Work) Cost() int {
	return w.Reads*readCost + w.Writes*writeCost + w.Transactions*ownCost + w.DryRuns*dryCost + w.Blocks*blockCost +
		w.Rows*rowCost + w.Probes*probeCost + w.Selectors*selCost + w.Counted/countedForOne + w.Bytes*kibCost/1024
}

// RowWork returns the work to read rows. A long row counts once for each KiB of its text.
func RowWork(rows, bytes int) Work { return Work{Rows: max(rows, bytes/1024)} }

// Budget limits the cost of requests, for a caller and for a project.
type Budget interface {
	// Charge takes the cost of work before the work is done. If the budget is too low, it takes nothing and returns an *ipam.Error with code
	// rate_limited. Work that costs more than a full budget may begin when the budget is full.
	Charge(w Work) error
	// Add takes the cost of work after the work is done. It never refuses. Instead, the next request must wait until the budget has recovered.
	Add(w Work)
	// Recheck returns rate_limited if other requests have used up the budget while this request waited for a slot. Only the first call checks,
	// because this request may itself have caused a later debt.
	Recheck() error
	// Debt returns the time until the budget is no longer used up, or 0.
	Debt() time.Duration
	// Reserve reserves memory for a response. The responses to one caller, to one project and to all callers may hold a limited number of bytes. If
	// there is no memory, Reserve waits some seconds. After that it returns an *ipam.Error with code rate_limited, or unavailable if other callers hold
	// the memory.
	//
	// keep reduces the reservation to a number of bytes. The caller must finally call it with 0.
	Reserve(ctx context.Context, bytes int) (keep func(bytes int), err error)
}

type payerKey struct{}

// PayerOf returns the project that pays for a request. For an API key, that is the key's project. For a user, it is the project in the path. For
// background work, it is zero.
func PayerOf(ctx context.Context) ipam.ID {
	payer, _ := ctx.Value(payerKey{}).(ipam.ID)
	return payer
}

// WithPayer stores the project that pays for the work in a context.
func WithPayer(ctx context.Context, project ipam.ID) context.Context {
	return context.WithValue(ctx, payerKey{}, project)
}

type budgetKey struct{}

// BudgetOf returns the budget of a request. If the context has none, the budget is unlimited.
func BudgetOf(ctx context.Context) Budget {
	if b, ok := ctx.Value(budgetKey{}).(Budget); ok {
		return b
	}
	return boundless{}
}

// WithBudget stores the budget in a request's context.
func WithBudget(ctx context.Context, b Budget) context.Context {
	return context.WithValue(ctx, budgetKey{}, b)
}

type boundless struct{}

func (boundless) Charge(Work) error { return nil }
func (boundless) Add(Work)          {}
func (boundless) Recheck() error    { return nil }

func (boundless) Debt() time.Duration { return 0 }

func (boundless) Reserve(context.Context, int) (func(int), error) { return func(int) {}, nil }
