package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/utilization"
	"github.com/carve-ipam/carve/internal/api"
	"github.com/carve-ipam/carve/internal/api/limits"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/devdb"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/telemetry"
	"github.com/carve-ipam/carve/internal/tenancy"
)

const (
	startTimeout = 2 * time.Minute
	drainTimeout = 20 * time.Second
	stopTimeout  = 30 * time.Second
	readyTimeout = 3 * time.Second
	flushTimeout = 3 * time.Second
)

// App is a running service.
type App struct {
	Log *slog.Logger

	config   Config
	main     *endpoint // serves the API
	admin    *endpoint // nil without --admin-listen
	service  *alloc.Service
	metrics  *telemetry.Metrics
	traces   *telemetry.Traces // nil: no traces
	ran      *telemetry.Jobs   // nil: no job metrics
	store    *crdb.Store
	recorder *utilization.Recorder
	// retention connects as the user that may delete audit records. If it is nil, this server may not delete them.
	retention *crdb.Store
	retains   bool // whether the user in --database-url may delete audit records
	keyring   *tenancy.Keyring
	sessions  *tenancy.Sessions
	console   bool // whether the build contains the console
	inFlight  *limits.InFlight
	memory    *limits.Memory
	embedded  *devdb.DB // nil with --database-url
	dsn       string
	bootstrap string // token for the API key that Start has created
	noAdmin   bool   // no API key and no member is a platform admin
	failed    chan error
	draining  atomic.Bool
	stop      context.CancelFunc // stops the background jobs
	idle      chan struct{}      // closed when the background jobs have stopped
}

// Start starts everything in this order: database, schema, store, listener. It writes the log to w. If a step fails, Start stops everything that it
// has started.
func Start(ctx context.Context, c Config, w io.Writer) (_ *App, err error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	_ = heapBallast() // allocates the heap ballast, which stays allocated and is never read
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	a := &App{Log: newLog(w, c), config: c, failed: make(chan error, 3), idle: make(chan struct{})}
	defer func() {
		if err != nil {
			close(a.idle)
			err = errors.Join(err, a.Close(context.WithoutCancel(ctx)))
		}
	}()
	files, err := c.read(a.Log, time.Now)
	if err != nil {
		return nil, err
	}
	a.dsn = files.databaseURL
	if err := a.observe(ctx, c); err != nil {
		return nil, err
	}
	if err := a.watchCertificates(files); err != nil {
		return nil, err
	}
	if err := c.canListen(ctx); err != nil {
		return nil, err
	}
	if err := a.openDatabase(ctx, c); err != nil {
		return nil, err
	}
	a.keyring = tenancy.NewKeyring(a.store, nil)
	a.recorder = utilization.NewRecorder(a.store, c.UtilizationEvery, a.store.Now)
	hooks, err := a.webhooks(c)
	if err != nil {
		return nil, err
	}
	service := alloc.New(a.store, alloc.Options{
		Region: c.Region, Metrics: a.metrics, Tracer: a.claimTracer(), MaxWaiting: maxWaiting(c), Runway: c.StockRunway, MaxSpaces: c.MaxSpaces, Webhooks: hooks,
		RecordedEvery: c.UtilizationEvery,
	})
	a.service = service
	a.inFlight = limits.NewInFlight(c.MaxInFlight, slotWait)
	if err := a.metrics.WatchLoad(func() telemetry.Load { return a.load(service) }); err != nil {
		return nil, err
	}
	if err := service.EnsurePlatform(ctx); err != nil {
		return nil, fmt.Errorf("cannot set up the project %q: %w", ipam.PlatformProject, err)
	}
	if _, err := service.ChangesMark(ctx); err != nil { // creates the feed's state, so that reads find it
		return nil, fmt.Errorf("cannot set up the feed of changes: %w", err)
	}
	if err := a.prepareServer(c, files, service); err != nil {
		return nil, err
	}
	if err := a.main.open(ctx, c.Listen); err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", c.Listen, err)
	}
	if err := a.listenAdmin(ctx, c, files); err != nil {
		return nil, err
	}
	if err := a.watchClients(); err != nil {
		return nil, err
	}
	if err := a.firstAdmin(ctx, c, service); err != nil { // after the listeners, which can fail, so that a new token is shown to the user
		return nil, fmt.Errorf("cannot make or find a first admin: %w", err)
	}
	jobs, err := a.observedJobs(c)
	if err != nil {
		return nil, err
	}
	a.background(jobs)
	go a.serve(a.main, "the HTTP server")
	if a.admin != nil {
		go a.serve(a.admin, "the admin listener")
	}
	return a, nil
}

func (a *App) openDatabase(ctx context.Context, c Config) error {
	if a.dsn == "" {
		db, err := devdb.Start(ctx, devdb.Config{
			DataDir: c.DataDir, Engine: devdb.Engine(c.Embedded), Log: a.Log, Region: c.Region, MaxConnections: c.MaxConnections + 20,
		})
		if err != nil {
			return err
		}
		a.embedded, a.dsn = db, db.DSN()
		if err := schema.Migrate(ctx, a.dsn, schema.MigrateOptions{Regions: []string{c.Region}, Roles: embeddedRoles()}); err != nil && !errors.Is(err, schema.ErrAhead) {
			return err
		}
	} else {
		if err := a.checkUser(ctx, c); err != nil {
			return err
		}
		if err := schema.Check(ctx, a.dsn); err != nil {
			return err
		}
		if err := schema.CheckRegion(ctx, a.dsn, c.Region); err != nil {
			return err
		}
	}
	store, err := crdb.Open(ctx, a.dsn, crdb.Options{
		Region: c.Region, MaxConnections: int32(c.MaxConnections), URLFile: c.DatabaseFile, Role: a.role(c), Log: a.Log, OnAttempt: a.recordAttempt, Tracer: a.statementTracer(), //nolint:gosec // checked: 2 to 1000
	})
	if err != nil {
		return err
	}
	a.store = store
	if a.traces != nil {
		a.traces.Database(store.Engine())
	}
	if err := a.openRetention(ctx, c); err != nil {
		return err
	}
	return a.metrics.WatchConnections(a.connections)
}

// prepareServer builds the HTTP server, its authentication and its limits.
func (a *App) prepareServer(c Config, f files, service *alloc.Service) error {
	may := limitsOf(c)
	a.memory = may.Memory
	authenticator, page, err := a.authenticator(c, f.issuers, may)
	if err != nil {
		return err
	}
	a.console = page.Included()
	proxies, err := c.proxies()
	if err != nil {
		return err
	}
	metrics := a.metrics.Handler()
	if c.Metrics == metricsAdmin {
		metrics = nil // only the admin listener serves the metrics
	}
	a.main = a.newServer(c, a.closeWhenDraining(api.New(api.Config{
		Service: service, Authenticator: authenticator, Log: a.Log, Clock: a.store.Now, RequestTimeout: c.RequestTimeout, Ready: a.ready,
		Limits: may, InFlight: a.inFlight, TrustedProxies: proxies, Version: api.Version{Version: version, Commit: commit},
		Meter: a.metrics, Tracer: a.requestTracer(), Metrics: metrics, MetricsLocal: c.Metrics != metricsOpen, Console: page,
	})))
	switch {
	case f.certificate != nil:
		a.main.server.TLSConfig = f.tls(c)
	case !c.local():
		a.Log.Warn("serving plain HTTP beyond loopback (--insecure-http): the network can read credentials", "listen", c.Listen)
	}
	return nil
}

// serve serves requests until Close. If the server stops by itself, Wait returns the error.
func (a *App) serve(d *endpoint, what string) {
	if err := d.serve(); err != nil {
		a.failed <- fmt.Errorf("%s stopped: %w", what, err)
	}
}

// ready returns nil if load balancers should send requests to this server. The database must respond within readyTimeout, and the server must not be
// shutting down.
func (a *App) ready(ctx context.Context) error {
	if a.draining.Load() {
		return api.ErrDraining
	}
	if err := a.store.WhyTooOld(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	return a.store.Ping(ctx)
}

// Addr returns the main listener's address.
func (a *App) Addr() string { return a.main.address() }

// DSN returns the database's URL.
func (a *App) DSN() string { return a.dsn }

// Wait returns nil when ctx ends. If the service must stop before that, Wait returns the reason.
func (a *App) Wait(ctx context.Context) error {
	var exited <-chan struct{}
	if a.embedded != nil {
		exited = a.embedded.Exited()
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-a.failed:
		return err
	case <-a.store.TooOld():
		return fmt.Errorf("the server stops: %w", a.store.WhyTooOld())
	case <-exited:
		return fmt.Errorf("the embedded database ended: %w", a.embedded.Err())
	}
}

// Close stops everything in the reverse order of Start. First it waits for DrainDelay, so that load balancers stop sending requests. Then it accepts
// no new requests and gives running requests drainTimeout to end. Finally, it stops the background jobs, makes the pending writes, and closes the
// connections and the embedded database.
func (a *App) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, a.config.DrainDelay+stopTimeout)
	defer cancel()
	a.drain(ctx)
	if a.service != nil {
		a.service.EndWebhooks()
		a.service.EndFeed()
	}
	var errs []error
	if a.main != nil {
		drain, done := context.WithTimeout(ctx, drainTimeout)
		if err := a.main.server.Shutdown(drain); err != nil {
			errs = append(errs, fmt.Errorf("some requests were cut off: %w", err))
		}
		done()
		errs = append(errs, a.main.close())
	}
	if a.admin != nil { // after the API's last request, so that probes can see until then that the server is shutting down; a running profile is cut off
		errs = append(errs, a.admin.close())
	}
	if a.stop != nil {
		a.stop()
	}
	<-a.idle
	if a.keyring != nil {
		flush, done := context.WithTimeout(ctx, flushTimeout)
		if _, err := a.keyring.Flush(flush); err != nil {
			a.Log.WarnContext(ctx, "cannot write the last use of some API keys", "error", err)
		}
		if a.sessions != nil {
			if _, err := a.sessions.Flush(flush); err != nil {
				a.Log.WarnContext(ctx, "cannot write the last use of some sessions", "error", err)
			}
		}
		done()
	}
	a.unobserve(ctx)
	if a.retention != nil && a.retention != a.store {
		a.retention.Close()
	}
	if a.store != nil {
		a.store.Close()
	}
	if a.embedded != nil {
		errs = append(errs, a.embedded.Stop(ctx))
	}
	return errors.Join(errs...)
}
