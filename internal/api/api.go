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

// Config configures the adapter. Service and Authenticator must be set.
type Config struct {
	Service       UseCases
	Authenticator auth.Authenticator
	Version       Version
	// Ready returns nil while the server can serve requests: the database responds, its schema fits this build, and the server is not shutting down. A
	// nil function means that the server is always ready.
	Ready func(ctx context.Context) error
	Log   *slog.Logger // nil: no log
	// Clock returns the database's time, for responses that contain a time. nil: the system's clock.
	Clock func() time.Time
	// RequestTimeout is a request's deadline, also for its SQL statements. 0: 10 seconds.
	RequestTimeout time.Duration
	// Limits are the callers' rate limits. The zero value sets no limits.
	Limits limits.Limits
	// InFlight limits concurrent requests. nil: no limit.
	InFlight *limits.InFlight
	// TrustedProxies are the proxies whose X-Forwarded-For header the server trusts. Without trusted proxies, a client's address is the address of
	// its connection.
	TrustedProxies []netip.Prefix
	// MaxBody is the largest request body in bytes. 0: 1 MiB.
	MaxBody int64
	// Meter records every response. nil: no metrics.
	Meter Meter
	// Tracer traces each request that the server accepts. nil: no traces.
	Tracer Tracer
	// Metrics serves GET /metrics, without credentials. nil: the path does not exist.
	Metrics http.Handler
	// Console is the web console. nil: no console.
	Console Console
	// MetricsLocal limits Metrics to callers on this machine. Other callers get 404.
	MetricsLocal bool
}

// Console serves the web console's pages and its sign-in, which are not in the contract.
type Console interface {
	// Register adds the console's paths to the router. Their requests have an origin and a deadline, and the adapter renders their errors.
	Register(e *echo.Echo)
	// Included reports whether the build contains the console. If it does not, Register adds one page that explains how to build the console.
	Included() bool
}

// Version identifies the build.
type Version struct {
	Version   string
	Commit    string // "" if the build does not know it
	GoVersion string // "": the running program's version
}

const (
	defaultTimeout = 10 * time.Second
	defaultMaxBody = 1 << 20
)

// adapter is the state that the middleware and the renderer share.
type adapter struct {
	cfg      Config
	contract *contract.Contract
	remote   echo.IPExtractor
}

// New returns the handler for all HTTP paths. It panics if the embedded contract does not load, which means that the build is broken.
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
	e.Use(a.chain())
	gen.RegisterHandlers(e, &server{cfg.Service, cfg})
	swagger := docs.Handler("/openapi.yaml")
	ui := func(c echo.Context) error {
		if !swagger.Has(c.Request().URL.Path) {
			return echo.ErrNotFound
		}
		swagger.ServeHTTP(c.Response(), c.Request())
		return nil
	}
	e.GET("/docs", ui)
	e.GET("/docs/*", ui)
	e.GET("/openapi.yaml", pages.YAML())
	e.GET("/openapi.json", pages.JSON())
	e.GET("/", pages.Front(pages.OptionalPaths{Console: cfg.Console != nil && cfg.Console.Included(), Metrics: cfg.Metrics != nil, MetricsLocal: cfg.MetricsLocal}))
	if cfg.Console != nil {
		cfg.Console.Register(e)
	}
	e.GET("/problems", pages.Problems)
	e.GET("/problems/:code", pages.Problem)
	if cfg.Metrics != nil {
		e.GET("/metrics", a.serveMetrics)
	}
	return headAsGet(a.limitConcurrency(e))
}

// headAsGet serves HEAD with the GET handler. net/http omits the body because the original request is still a HEAD.
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
