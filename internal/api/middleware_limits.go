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

// versionOperation is an operation that needs credentials but has no rate limit.
const versionOperation = "getVersion"

// limitRate limits the reads and writes of each caller. It does not limit operations without credentials, nor requests in development mode, in which
// all callers have the same name.
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

// charge charges a request for the costs that are known before the server reads the body. The use cases charge the other costs: a batch before they
// process its claims, and rows after they have read the rows.
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
		if err := k.budget.Begin(minimumWork(c, k.op.ID), requestedRows(c)); err != nil {
			return err
		}
		return next(c)
	}
}

// payers returns the caller and the project whose budgets a request uses. A key uses its own budget and the budget of its own project, even in a
// request to another project. A person uses their own budget and the budget of the project in the path. "" means that no project pays.
//
// If the caller holds a role in the project, payers returns the project's UID and not its name. So a new project with an old name, or one of its
// keys, does not start with the used budget of the old project.
func payers(c echo.Context, who tenancy.Principal) (caller, project string) {
	key, isKey := strings.CutPrefix(who.Subject, "key:")
	if !isKey {
		project = contract.PathParam(c, "project")
		return who.Subject, projectKey(who, project)
	}
	project, _, _ = strings.Cut(key, "/")
	project = projectKey(who, project)
	return project + who.Subject, project
}

// projectKey returns the UID of a project as bytes if the caller holds a role in the project, and otherwise the name. The two cannot be equal,
// because a name is ASCII and a UID never is.
func projectKey(who tenancy.Principal, project string) string {
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

// minimumWork returns the minimum cost of a request.
func minimumWork(c echo.Context, operation string) tenancy.Work {
	r := c.Request()
	w := tenancy.Work{Bytes: int(max(r.ContentLength, 0))}
	switch {
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		w.Reads = 1
	case c.QueryParam("dryRun") == "true":
		w.DryRuns = 1
	case groupedOperations[operation]:
		w.Writes = 1
	default:
		w.Transactions = 1
	}
	return w
}

// groupedOperations contains the operations that write claims. Concurrent operations share a transaction, and the use cases charge a batch by its
// size.
var groupedOperations = map[string]bool{
	"createClaim": true, "putClaim": true, "deleteClaim": true, "createClaimBatch": true, "releaseClaims": true, "renewConsumers": true,
}

// requestedRows returns the number of rows that a list request asks for. The list starts only if the budget covers this number, but the budget is
// charged only for the rows that the list reads.
func requestedRows(c echo.Context) tenancy.Work {
	limit, err := strconv.Atoi(c.QueryParams().Get("limit"))
	if err != nil || limit < 0 || limit > maxListed {
		return tenancy.Work{}
	}
	return tenancy.Work{Rows: limit}
}

// maxListed is the largest limit of a list.
const maxListed = 500

// alwaysServed reports whether a path bypasses the limit of concurrent requests. Health and metrics must respond under any load. Static content, such
// as the contract, Swagger UI and the console, needs almost no work, and a stranger that reads it slowly must not occupy a slot.
func alwaysServed(path string) bool {
	switch path {
	case "/healthz", "/readyz", "/metrics", "/openapi.yaml", "/openapi.json":
		return true
	}
	return strings.HasPrefix(path, "/docs/") || strings.HasPrefix(path, "/problems/") || strings.HasPrefix(path, "/console/assets/")
}

// limitConcurrency refuses requests beyond the limit of concurrent requests. It runs before everything else, including the router, the request
// metrics and the access log. When the load is several times the server's capacity, most requests end here, so a refusal must be as cheap as
// possible.
func (a *adapter) limitConcurrency(e *echo.Echo) http.Handler {
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

// shed writes the refusal of a request. It renders the error like renderError, but logs at most one line in ten seconds for all refusals.
func (a *adapter) shed(e *echo.Echo, w http.ResponseWriter, r *http.Request, refused *ipam.Error) {
	f := a.cfg.InFlight
	f.LimitLog(func() {
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
	_ = answer(c) // an error means that the client has disconnected
}
