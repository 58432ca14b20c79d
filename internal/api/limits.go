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

// versionOperation needs credentials, but no caller is limited in asking which version answers.
const versionOperation = "getVersion"

// limitRate counts what a caller reads and writes. Operations without credentials are not limited, and neither is development
// mode, where all callers are one.
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

// charge takes what a request costs as far as that is known before anything of it is read, and lets the use cases take the rest: for the
// claims of a batch before they are looked at, for rows when they have been.
func (a *adapter) charge(next echo.HandlerFunc) echo.HandlerFunc {
	may := a.cfg.Limits
	return func(c echo.Context) error {
		k, ok := c.(*call)
		who, known := tenancy.From(c.Request().Context())
		if !ok || k.op == nil || k.op.ID == versionOperation || !known || who.Method == auth.MethodDev {
			return next(c)
		}
		caller, project := payers(c, who)
		visit, err := visitOf(c)
		if err != nil {
			return err
		}
		visit.Bill(payer(project))
		if may.Work == nil && may.Project == nil && may.Memory == nil {
			return next(c)
		}
		k.budget = may.Budget(caller, project, c.Response().Header())
		visit.Spend(&k.budget)
		if err := k.budget.Begin(foreseen(c), listed(c)); err != nil {
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
		project = contract.PathParam(c, "project")
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

// payer returns an id for a project as payers names it: the project's UID, or an id made from its name.
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

// alwaysServed are the paths by which somebody finds out how the server is: they answer however much there is to do. And there is what never
// changes, as the contract, Swagger UI and the console: nothing is worked on for it, and strangers who read it slowly must not keep places.
func alwaysServed(path string) bool {
	switch path {
	case "/healthz", "/readyz", "/metrics", "/openapi.yaml", "/openapi.json":
		return true
	}
	return strings.HasPrefix(path, "/docs/") || strings.HasPrefix(path, "/problems/") || strings.HasPrefix(path, "/console/assets/")
}

// bound refuses what finds no place. It stands before everything else, the router, the metrics of requests and the access log included: at
// several times of what a server can do, most requests end here, and what they cost is missing to those that are served.
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
			r = r.WithContext(limits.WithPlace(r.Context(), leave))
		}
		defer leave()
		e.ServeHTTP(w, r)
	})
}

// shed answers like renderError, without the log: all of them have one line there now and then.
func (a *adapter) shed(e *echo.Echo, w http.ResponseWriter, r *http.Request, refused *ipam.Error) {
	f := a.cfg.InFlight
	f.NowAndThen(func() {
		load := f.Load()
		a.cfg.Log.LogAttrs(r.Context(), slog.LevelWarn, "requests are refused: as many as may be are worked on, of all callers or of one",
			slog.Int64("inFlight", load.Max), slog.Int64("refusedSoFar", load.Full), slog.Int64("ofOneCaller", load.Greedy))
	})
	c := e.AcquireContext()
	defer e.ReleaseContext(c)
	c.Reset(r, w)
	answer := a.requestID(a.securityHeaders(func(c echo.Context) error {
		k, w := kinds[refused.Code], c.Response()
		setErrorHeaders(w.Header(), k.status, refused)
		w.Header().Set(echo.HeaderContentType, mimeProblem)
		w.WriteHeader(k.status)
		return json.NewEncoder(w).Encode(a.problemOf(c, k, refused))
	}))
	_ = answer(c) // who has gone does not read that
}
