package api

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/api/auth"
	"github.com/carve-ipam/carve/internal/api/contract"
	"github.com/carve-ipam/carve/internal/api/limits"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// versionOperation needs credentials, but has no rate limit.
const versionOperation = "getVersion"

// limitRate limits the reads and writes of each caller. It does not limit operations without credentials. It does not limit development mode either,
// because all its callers are the same.
func (a *adapter) limitRate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		op, r := operationOf(c), c.Request()
		who, known := tenancy.From(r.Context())
		if op == nil || op.ID == versionOperation || !known || who.Method == auth.MethodDev {
			return next(c)
		}
		limiter := a.cfg.Limits.Writes
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			limiter = a.cfg.Limits.Reads
		}
		if limiter == nil {
			return next(c)
		}
		d := limiter.Take(who.Subject)
		limits.Describe(c.Response().Header(), d)
		if err := limits.Allow(d); err != nil {
			return err
		}
		return next(c)
	}
}

// charge charges a request for the costs that are known before the server reads the body. The use cases charge the rest. They charge the claims of a
// batch before they process the claims, and rows after they have read the rows.
func (a *adapter) charge(next echo.HandlerFunc) echo.HandlerFunc {
	may := a.cfg.Limits
	return func(c echo.Context) error {
		k, ok := c.(*call)
		who, known := tenancy.From(c.Request().Context())
		if !ok || k.op == nil || k.op.ID == versionOperation || !known || who.Method == auth.MethodDev {
			return next(c)
		}
		caller, project := payers(c, who)
		visit, err := contextOf(c)
		if err != nil {
			return err
		}
		visit.SetPayer(payer(project))
		if may.Work == nil && may.Project == nil && may.Memory == nil {
			return next(c)
		}
		k.budget = may.Budget(caller, project, c.Response().Header())
		visit.SetBudget(&k.budget)
		if err := k.budget.Begin(foreseen(c, k.op.ID), listed(c)); err != nil {
			return err
		}
		return next(c)
	}
}

// payers returns the caller and the project whose budgets a request uses. A key uses its own budget and the budget of its own project, even in a
// request to another project. A person uses their own budget and the budget of the project in the path. "" means that no project pays.
//
// If the caller holds a role in the project, payers returns the project's UID and not its name. So a new project with an old name, or a key of it,
// does not start with the used-up budget of the old project.
func payers(c echo.Context, who tenancy.Principal) (caller, project string) {
	key, isKey := strings.CutPrefix(who.Subject, "key:")
	if !isKey {
		project = contract.PathParam(c, "project")
		return who.Subject, identified(who, project)
	}
	project, _, _ = strings.Cut(key, "/")
	project = identified(who, project)
	return project + who.Subject, project
}

// identified returns the UID of a project as bytes if the caller holds a role in it, and its name otherwise. A name is ASCII, and a UID never is.
func identified(who tenancy.Principal, project string) string {
	if held, ok := who.Held[project]; ok {
		return string(held.Project[:])
	}
	return project
}

// payer converts the project that payers returns into an id. The id is the project's UID, or is derived from the project's name.
func payer(project string) (id ipam.ID) {
	switch {
	case project == "":
		return id
	case len(project) == len(id):
		return ipam.ID([]byte(project))
	default:
		return ipam.DerivedID(id, project)
	}
}

// foreseen returns the minimum cost of a request.
func foreseen(c echo.Context, operation string) tenancy.Work {
	r := c.Request()
	w := tenancy.Work{Bytes: int(max(r.ContentLength, 0))}
	switch {
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		w.Reads = 1
	case c.QueryParam("dryRun") == "true":
		w.DryRuns = 1
	case grouped[operation]:
		w.Writes = 1
	default:
		w.Transactions = 1
	}
	return w
}

// grouped contains the writes of claims. Concurrent ones share a transaction, and the use cases charge a batch by its size.
var grouped = map[string]bool{
	"createClaim": true, "putClaim": true, "deleteClaim": true, "createClaimBatch": true, "releaseClaims": true, "renewConsumers": true,
}

// listed returns the number of rows that a list request asks for. The list starts only if the budget covers this number, but pays for the rows it
// reads.
func listed(c echo.Context) tenancy.Work {
	limit, err := strconv.Atoi(c.QueryParams().Get("limit"))
	if err != nil || limit < 0 || limit > maxListed {
		return tenancy.Work{}
	}
	return tenancy.Work{Rows: limit}
}

// maxListed is the largest limit of a list.
const maxListed = 500

// alwaysServed reports whether a path bypasses the limit of concurrent requests. Health and metrics must respond under any load. Static content, such
// as the contract, Swagger UI and the console, costs almost no work. Strangers who read it slowly must not occupy slots.
func alwaysServed(path string) bool {
	switch path {
	case "/healthz", "/readyz", "/metrics", "/openapi.yaml", "/openapi.json":
		return true
	}
	return strings.HasPrefix(path, "/docs/") || strings.HasPrefix(path, "/problems/") || strings.HasPrefix(path, "/console/assets/")
}

// bound refuses requests beyond the limit of concurrent requests. It runs before everything else, including the router, the request metrics and the
// access log. Under several times the server's capacity, most requests end here, so a refusal must be as cheap as possible.
func (a *adapter) bound(e *echo.Echo) http.Handler {
	f := a.cfg.InFlight
	if f == nil {
		return e
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if alwaysServed(r.URL.Path) {
			e.ServeHTTP(w, r)
			return
		}
		leave, refused := f.Enter(r.Context(), auth.Credentials(r))
		if refused != nil {
			a.shed(e, w, r, refused)
			return
		}
		if strings.HasSuffix(r.URL.Path, "/changes") {
			leave = sync.OnceFunc(leave)
			r = r.WithContext(limits.WithSlot(r.Context(), leave))
		}
		defer leave()
		e.ServeHTTP(w, r)
	})
}

// shed writes the refusal of a request. It renders the error like renderError, but logs only one line now and then for all refusals.
func (a *adapter) shed(e *echo.Echo, w http.ResponseWriter, r *http.Request, refused *ipam.Error) {
	f := a.cfg.InFlight
	f.Throttled(func() {
		load := f.Load()
		a.cfg.Log.LogAttrs(r.Context(), slog.LevelWarn, "requests are refused: the server or a caller has reached its limit on concurrent requests",
			slog.Int64("inFlight", load.Max), slog.Int64("refusedSoFar", load.Full), slog.Int64("ofOneCaller", load.Greedy))
	})
	c := e.AcquireContext()
	defer e.ReleaseContext(c)
	c.Reset(r, w)
	answer := a.requestID(a.securityHeaders(func(c echo.Context) error {
		k, w := kinds[refused.Code], c.Response()
		setErrorHeaders(w.Header(), k.Status, refused)
		w.Header().Set(echo.HeaderContentType, mimeProblem)
		w.WriteHeader(k.Status)
		return json.NewEncoder(w).Encode(a.problemOf(c, k, refused))
	}))
	_ = answer(c) // the error is ignored: it means that the client has gone
}
