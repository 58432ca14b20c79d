package crdb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/catalogcache"
	"github.com/carve-ipam/carve/internal/crdb/dial"
	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// Store is the database. Open returns a Store, and Close releases it.
type Store struct {
	lookup.Reader
	regions *regionSet
	pool    *pgxpool.Pool
	writers *dial.Writers
	product dial.Engine
	engine  engine

	stale  *pgxpool.Pool // for stale reads
	region string
	log    *slog.Logger
	watch  func(Attempt)
	tracer Tracer // nil: no tracing
	clock  *storeClock
	memory *catalogcache.Cache
	feed   *feedClock
	shares projectShares

	allowed context.Context         // ends when this program may no longer use the database; its cause is the reason
	forbid  context.CancelCauseFunc // ends allowed
	stop    func()                  // stops the background work and waits for it
}

var (
	_ storage.Store    = (*Store)(nil)
	_ tenancy.KeyStore = (*Store)(nil)
)

// Options configures a Store.
type Options struct {
	Region         string        // region whose rows this process reads and writes
	MaxConnections int32         // 0: pgx's default for the machine
	URLFile        string        // file with the URL, which is read again for each new connection; "": the URL does not change
	Role           string        // database role for the sessions; "": the user's own rights. A session can switch back, so the role is no security boundary
	Log            *slog.Logger  // nil: no log
	OnAttempt      func(Attempt) // nil: no calls
	Tracer         Tracer        // nil: no tracing
	// LocalTime is this machine's clock. Tests set it to a wrong time. nil: time.Now. The store measures durations with it, and never uses its time
	// of day.
	LocalTime func() time.Time
}

// Attempt describes one attempt at a transaction or read, for metrics and tests.
type Attempt struct {
	Op       string
	Number   int    // from 0
	End      string // "committed", "again", "refused", "unknown"
	SQLState string // "" if the database returned none
}

// Open connects to a database and detects its engine. It does not migrate the database.
func Open(ctx context.Context, dsn string, o Options) (*Store, error) {
	if _, err := dial.Parse(dsn); err != nil {
		return nil, err
	}
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("the pool parameters of the database URL are not valid")
	}
	if err := dial.Writable(cfg.ConnConfig); err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.OnAttempt == nil {
		o.OnAttempt = func(Attempt) {}
	}
	renewed := dial.NewRenewal(dsn, o.URLFile, cfg.ConnConfig, o.Log)
	cfg.BeforeConnect = func(ctx context.Context, c *pgx.ConnConfig) error {
		dial.NewLink(c)
		return renewed.BeforeConnect(ctx, c)
	}
	cfg.AfterConnect = func(_ context.Context, c *pgx.Conn) error {
		rows.RegisterCodecs(c.TypeMap())
		return nil
	}
	if o.Tracer != nil {
		cfg.ConnConfig.Tracer = statements{o.Tracer}
	}
	if o.MaxConnections > 0 {
		cfg.MaxConns = o.MaxConnections
	}
	product, err := dial.EngineAt(ctx, cfg.ConnConfig)
	if err != nil {
		return nil, err
	}
	eng := engines[product]
	for name, value := range eng.settings() {
		if _, set := cfg.ConnConfig.RuntimeParams[name]; !set {
			cfg.ConnConfig.RuntimeParams[name] = value
		}
	}
	if o.Role != "" {
		cfg.ConnConfig.RuntimeParams["role"] = o.Role
	}
	cfg.MaxConnLifetime, cfg.MaxConnLifetimeJitter = 30*time.Minute, 3*time.Minute
	cfg.MaxConnIdleTime = cfg.MaxConnLifetime
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("cannot connect to the database: %w", err)
	}
	followers, err := newStaleConnections(ctx, cfg)
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("cannot connect to the database: %w", err)
	}
	s := &Store{
		pool: pool, shares: newProjectShares(int(cfg.MaxConns), int(followers.Config().MaxConns)), writers: dial.NewWriters(cfg.MaxConns), stale: followers, product: product, engine: eng, region: o.Region, log: o.Log, watch: o.OnAttempt, tracer: o.Tracer,
		clock: newStoreClock(o.LocalTime), feed: &feedClock{},
	}
	s.allowed, s.forbid = context.WithCancelCause(context.WithoutCancel(ctx))
	s.regions, s.memory = newRegionSet(o.Region), catalogcache.New(s.clock.local)
	s.Reader = s.readerBy(s.read)
	if err := s.readFacts(ctx); err != nil {
		pool.Close()
		followers.Close()
		return nil, err
	}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { s.refreshRegions(life) })
	running.Go(func() { s.keepClock(life) })
	s.stop = func() {
		cancel()
		running.Wait()
	}
	return s, nil
}

// readFacts reads the facts that the store needs before it can serve a request.
func (s *Store) readFacts(ctx context.Context) error {
	if err := s.checkCompatible(ctx); err != nil {
		return err
	}
	if err := s.readRegions(ctx); err != nil {
		return fmt.Errorf("cannot read the database's regions: %w", err)
	}
	for range clockSamples {
		if err := s.readClock(ctx); err != nil {
			return fmt.Errorf("cannot read the database's clock: %w", err)
		}
	}
	return nil
}

// Close closes all connections.
func (s *Store) Close() {
	s.stop()
	s.writers.Close()
	s.pool.Close()
	s.stale.Close()
}

// Ping reports whether the database responds.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.pool.Ping(ctx); err != nil {
		return ipam.Errorf(ipam.CodeUnavailable, "The database does not answer.").WithCause(err)
	}
	return nil
}

// Engine returns "cockroachdb" or "postgresql".
func (s *Store) Engine() string { return string(s.product) }

// Region returns the store's region.
func (s *Store) Region() string { return s.region }
