package api

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/ratelimit"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// budget is what one request may cost: its caller, and the project whose caller it is.
type budget struct {
	caller, project *ratelimit.Limiter // nil: no limit
	who             string
	of              string // "": no project
	header          http.Header
	spent           int // by this request: what it costs in parts must not be refused for ever where all of it at once would begin
}

// charge takes what a request costs as far as that is known before anything of it is read, and lets the use cases take the rest: for the
// claims of a batch before they are looked at, for rows when they have been.
func (a *adapter) charge(next echo.HandlerFunc) echo.HandlerFunc {
	limits := a.cfg.Limits
	return func(c echo.Context) error {
		k, ok := c.(*call)
		who, known := tenancy.From(c.Request().Context())
		if !ok || k.op == nil || k.op.id == versionOperation || !known || who.Method == methodDev || limits.Work == nil && limits.Project == nil {
			return next(c)
		}
		k.budget = budget{caller: limits.Work, project: limits.Project, header: c.Response().Header()}
		k.budget.who, k.budget.of = payers(c, who)
		visit, err := visitOf(c)
		if err != nil {
			return err
		}
		visit.Spend(&k.budget)
		if err := k.budget.charge(foreseen(c), listed(c)); err != nil {
			return err
		}
		return next(c)
	}
}

// payers is whose budgets a request is on: the caller's, and that of the key's project, whatever project the request is about, or else, for people,
// that of the project it is about; "": none. A project of which the caller holds a role is told by its UID, so that a name which is used again, by a project or by
// a key of it, inherits no debts.
func payers(c echo.Context, who tenancy.Principal) (caller, project string) {
	key, isKey := strings.CutPrefix(who.Subject, "key:")
	if !isKey {
		project = pathParam(c, "project")
		return who.Subject, identified(who, project)
	}
	project, _, _ = strings.Cut(key, "/")
	project = identified(who, project)
	return project + who.Subject, project
}

// identified is the UID of a project, as far as the caller brings it, or else its name, which is ASCII, as no UID is.
func identified(who tenancy.Principal, project string) string {
	if held, ok := who.Held[project]; ok {
		return string(held.Project[:])
	}
	return project
}

// foreseen is what a request surely costs.
func foreseen(c echo.Context) tenancy.Work {
	r := c.Request()
	w := tenancy.Work{Bytes: int(max(r.ContentLength, 0))}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		w.Reads = 1
	} else {
		w.Writes = 1
	}
	return w
}

// listed is how many rows a list is asked for. It costs those that it looks at, and does not begin before there are as many to spend.
func listed(c echo.Context) tenancy.Work {
	limit, err := strconv.Atoi(c.QueryParams().Get("limit"))
	if err != nil || limit < 0 || limit > maxListed {
		return tenancy.Work{}
	}
	return tenancy.Work{Rows: limit}
}

// maxListed is the largest limit of a list.
const maxListed = 500

// Charge implements tenancy.Budget.
func (b *budget) Charge(w tenancy.Work) error { return b.charge(w, tenancy.Work{}) }

// charge takes the cost of some work, if there is as much as that of more work besides.
func (b *budget) charge(w, besides tenancy.Work) error {
	cost := w.Cost()
	need := cost + besides.Cost()
	for _, p := range b.purses() {
		if d := p.limiter.Afford(p.key, need, b.spent); !d.Allowed {
			describeLimit(b.header, d)
			return overBudget(d, need)
		}
	}
	for _, p := range b.purses() {
		p.limiter.Owe(p.key, cost)
	}
	b.spent += cost
	return nil
}

// Add implements tenancy.Budget.
func (b *budget) Add(w tenancy.Work) {
	for _, p := range b.purses() {
		p.limiter.Owe(p.key, w.Cost())
	}
}

// purse is one bucket that a request is paid from.
type purse struct {
	limiter *ratelimit.Limiter
	key     string
}

// purses is a slice of an array that does not leave the caller's stack.
func (b *budget) purses() []purse {
	all := make([]purse, 0, 2)
	if b.caller != nil {
		all = append(all, purse{b.caller, b.who})
	}
	if b.project != nil && b.of != "" {
		all = append(all, purse{b.project, b.of})
	}
	return all
}

func overBudget(d ratelimit.Decision, cost int) error {
	whose := "caller's"
	if d.Policy == projectPolicy {
		whose = "project's"
	}
	e := ipam.Errorf(ipam.CodeRateLimited,
		"The request costs %d units of work, and of the %s budget of %d in %d seconds %d are left (limit %q). Nothing was changed; repeat it when Retry-After has passed, or ask for less at once.",
		cost, whose, d.Quota, int(d.Window.Seconds()), d.Remaining, d.Policy)
	e.RetryAfter = d.RetryAfter
	return e
}

// projectPolicy is the name of the limit that all callers of a project share.
const projectPolicy = "project-work"
