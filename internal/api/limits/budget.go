package limits

import (
	"context"
	"net/http"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/ratelimit"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// Budget limits the cost of one request, by the budgets of its caller and of a project.
type Budget struct {
	caller, project *ratelimit.Limiter // nil: no limit
	who             string
	of              string // "": no project
	header          http.Header
	memory          *Memory
	// spent is the cost of this request so far. A request that costs more than a full budget may start when the budget is full. Begin uses spent so that
	// such a request may also pay in several steps.
	spent int
}

// Budget returns the budget of a request. If the budget is used up, it writes the rate limit headers.
func (l Limits) Budget(caller, project string, header http.Header) Budget {
	return Budget{caller: l.Work, project: l.Project, who: caller, of: project, header: header, memory: l.Memory}
}

// Charge implements tenancy.Budget.
func (b *Budget) Charge(w tenancy.Work) error { return b.Begin(w, tenancy.Work{}) }

// Begin charges the cost of w. It fails if the budget does not also cover the cost of besides. That is work that may follow and is charged later.
func (b *Budget) Begin(w, besides tenancy.Work) error {
	cost := w.Cost()
	need := cost + besides.Cost()
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

// Reserve implements tenancy.Budget.
func (b *Budget) Reserve(ctx context.Context, bytes int) (keep func(bytes int), err error) {
	return b.memory.Reserve(ctx, b.who, b.of, bytes)
}

// bucket is one token bucket that pays for a request.
type bucket struct {
	limiter *ratelimit.Limiter
	key     string
}

// buckets returns the token buckets of the request. The compiler can inline it, so that the array stays on the stack.
func (b *Budget) buckets() []bucket {
	all := make([]bucket, 0, 2)
	if b.caller != nil {
		all = append(all, bucket{b.caller, b.who})
	}
	if b.project != nil && b.of != "" {
		all = append(all, bucket{b.project, b.of})
	}
	return all
}

func overBudget(d ratelimit.Decision, cost int) error {
	whose := "caller's"
	if d.Policy == projectPolicy {
		whose = "project's"
	}
	e := ipam.Errorf(ipam.CodeRateLimited,
		"The request costs %d units of work, but the %s budget of %d units in %d seconds has only %d left (limit %q). Nothing was changed; repeat it when Retry-After has passed, or ask for less at once.",
		cost, whose, d.Quota, int(d.Window.Seconds()), d.Remaining, d.Policy)
	e.RetryAfter = d.RetryAfter
	return e
}

// projectPolicy is the name of the limit that a project's callers share.
const projectPolicy = "project-work"
