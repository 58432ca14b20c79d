package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/api/auth"
	"github.com/carve-ipam/carve/internal/api/contract"
	"github.com/carve-ipam/carve/internal/api/docs"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/api/limits"
	"github.com/carve-ipam/carve/internal/api/pages"
)

// Config is what the adapter is built from. Service and Authenticator must be set.
type Config struct {
	Service       UseCases
	Authenticator auth.Authenticator
	Version       Version
	// Ready answers nil while requests can be served: the database answers, its schema is this build's, and the server
	// is not shutting down. nil: always ready.
	Ready func(ctx context.Context) error
	Log   *slog.Logger // nil: nothing is logged
	// Clock tells what time it is where that is part of an answer, by the database's clock. nil: the system's.
	Clock func() time.Time
	// RequestTimeout is the deadline of a request, down to its SQL. 0: 10 seconds.
	RequestTimeout time.Duration
	// Limits is how often callers may ask. The zero value: as often as they like.
	Limits limits.Limits
	// InFlight is how many requests are worked on at once. nil: as many as come.
	InFlight *limits.InFlight
	// TrustedProxies are those whose X-Forwarded-For is believed. None: the address of a client is that of its connection.
	TrustedProxies []netip.Prefix
	// MaxBody is the largest request body in bytes. 0: 1 MiB.
	MaxBody int64
	// Meter is told of every answer. nil: nobody measures.
	Meter Meter
	// Tracer is told of every request that has a place. nil: nobody follows requests.
	Tracer Tracer
	// Metrics answers GET /metrics, without credentials. nil: there is nothing at that path.
	Metrics http.Handler
	// Console is the web console. nil: there is none.
	Console Console
	// MetricsLocal leaves Metrics to callers on this machine; others find nothing there.
	MetricsLocal bool
}

// Console is what a browser is served besides the contract: pages, and who is signed in.
type Console interface {
	// Register adds its paths. What passes to them has an origin and a deadline, and its failures are rendered like all others.
	Register(e *echo.Echo)
	// There reports whether the build has a console, or nothing but a page that says so.
	There() bool
}

// Version says which build answers.
type Version struct {
	Version   string
	Commit    string // "" when the build does not know it
	GoVersion string // "": that of the running program
}

const (
	defaultTimeout = 10 * time.Second
	defaultMaxBody = 1 << 20
)

// adapter is what the middleware and the renderer share.
type adapter struct {
	cfg      Config
	contract *contract.Contract
	remote   echo.IPExtractor
}

// New builds the handler of the whole HTTP surface. It panics on what only a broken build can cause: a contract that does
// not load, a code without a status.
func New(cfg Config) http.Handler {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.RequestTimeout == 0 {
		cfg.RequestTimeout = defaultTimeout
	}
	if cfg.MaxBody == 0 {
		cfg.MaxBody = defaultMaxBody
	}
	if cfg.Version.GoVersion == "" {
		cfg.Version.GoVersion = runtime.Version()
	}
	served, err := contract.Load()
	if err != nil {
		panic(fmt.Sprintf("api: embedded contract: %v", err))
	}
	a := &adapter{cfg: cfg, contract: served, remote: extractor(cfg.TrustedProxies)}
	e := echo.New()
	e.Binder = contract.Binder{}
	e.HTTPErrorHandler = a.renderError
	e.Use(a.chained())
	gen.RegisterHandlers(e, newServer(cfg))
	swagger := echo.WrapHandler(docs.Handler("/openapi.yaml"))
	ui := func(c echo.Context) error {
		if !docs.Has(c.Request().URL.Path) {
			return echo.ErrNotFound
		}
		return swagger(c)
	}
	e.GET("/docs", ui)
	e.GET("/docs/*", ui)
	e.GET("/openapi.yaml", pages.YAML())
	e.GET("/openapi.json", pages.JSON())
	e.GET("/", pages.Front(pages.Around{Console: cfg.Console != nil && cfg.Console.There(), Metrics: cfg.Metrics != nil, MetricsLocal: cfg.MetricsLocal}))
	if cfg.Console != nil {
		cfg.Console.Register(e)
	}
	e.GET("/problems", pages.Problems(problemRows()))
	e.GET("/problems/:code", pages.Problem)
	if cfg.Metrics != nil {
		e.GET("/metrics", a.serveMetrics)
	}
	return headAsGet(a.bound(e))
}

// headAsGet serves HEAD like GET wherever GET is: net/http leaves the body out by the method that it read itself.
func headAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			get := r.WithContext(r.Context()) // a shallow copy: the server's own request stays a HEAD
			get.Method = http.MethodGet
			r = get
		}
		next.ServeHTTP(w, r)
	})
}
