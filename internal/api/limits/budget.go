package limits

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/ratelimit"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// Budget limits a request's cost by two budgets, the caller's and a project's.
type Budget struct {
	caller, project *ratelimit.Limiter // nil: no limit
	callerKey       string
	projectKey      string // "": no project
	header          http.Header
	memory          *Memory
	// spent is this request's cost so far. A request that costs more than a full budget may start when the budget is full. Begin uses spent so that
	// such a request may also be charged in several steps.
	spent     int
	rechecked bool
}

// Budget returns a request's budget. If the budget is used up, it writes the rate limit headers.
func (l Limits) Budget(caller, project string, header http.Header) Budget {
	return Budget{caller: l.Work, project: l.Project, callerKey: caller, projectKey: project, header: header, memory: l.Memory}
}

// Charge implements tenancy.Budget.
func (b *Budget) Charge(w tenancy.Work) error { return b.Begin(w, tenancy.Work{}) }

// Begin charges w. followUp is work that may follow, and that is charged later. Begin fails if the budget does not cover w and followUp together.
func (b *Budget) Begin(w, followUp tenancy.Work) error {
	cost := w.Cost()
	need := cost + followUp.Cost()
	for _, p := range b.buckets() {
		if d := p.limiter.CanSpend(p.key, need, b.spent); !d.Allowed {
			Describe(b.header, d)
			return overBudget(d, need)
		}
	}
	for _, p := range b.buckets() {
		p.limiter.Debit(p.key, cost)
	}
	b.spent += cost
	return nil
}

// Add implements tenancy.Budget.
func (b *Budget) Add(w tenancy.Work) {
	for _, p := range b.buckets() {
		p.limiter.Debit(p.key, w.Cost())
	}
}

// Recheck implements tenancy.Budget.
func (b *Budget) Recheck() error {
	if b.rechecked {
		return nil
	}
	err := b.Charge(tenancy.Work{})
	b.rechecked = err == nil
	return err
}

// Debt implements tenancy.Budget.
func (b *Budget) Debt() (wait time.Duration) {
	for _, p := range b.buckets() {
		if d := p.limiter.CanSpend(p.key, 1, 0); !d.Allowed {
			wait = max(wait, d.RetryAfter, 1)
		}
	}
	return wait
}

// Reserve implements tenancy.Budget.
func (b *Budget) Reserve(ctx context.Context, bytes int) (keep func(bytes int), err error) {
	return b.memory.Reserve(ctx, b.callerKey, b.projectKey, bytes)
}

// bucket is one token bucket that pays for a request.
type bucket struct {
	limiter *ratelimit.Limiter
	key     string
}

// buckets returns the request's token buckets. The function is short, so that the compiler can inline it and the array stays on the stack.
func (b *Budget) buckets() []bucket {
	all := make([]bucket, 0, 2)
	if b.caller != nil {
		all = append(all, bucket{b.caller, b.callerKey})
	}
	if b.project != nil && b.projectKey != "" {
		all = append(all, bucket{b.project, b.projectKey})
	}
	return all
}

func overBudget(d ratelimit.Decision, cost int) error {
	whose := "caller's"
	if d.Policy == projectPolicy {
		whose = "project's"
	}
	budget := fmt.Sprintf("%s budget of %d units in %d seconds", whose, d.Quota, int(d.Window.Seconds()))
	e := ipam.Errorf(ipam.CodeRateLimited,
		"The request costs %d units of work, but the %s has only %d left (limit %q). Nothing was changed; repeat it when Retry-After has passed, or ask for less at once.",
		cost, budget, d.Remaining, d.Policy)
	if cost == 0 {
		e = ipam.Errorf(ipam.CodeRateLimited,
			"While the request waited, other requests used up the %s (limit %q). Nothing was changed; repeat it when Retry-After has passed.", budget, d.Policy)
	}
	e.RetryAfter = d.RetryAfter
	return e
}

// projectPolicy names the limit that a project's callers share.
const projectPolicy = "project-work"
