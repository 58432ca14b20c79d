//go:build unix

package devdb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
)

// DB is a running embedded database.
type DB struct {
	dsn    string
	engine Engine
	data   *directory
	proc   *process
	log    *slog.Logger

	stopping atomic.Bool
	stop     sync.Once
	stopErr  error
}

// Start starts a data directory's database, and returns when the database responds to queries. It first creates the database if the directory has
// none. ctx limits only the start, not the database's life.
//
// It returns these errors: [ErrInUse] (and [InUseError]), [ErrMissing] if no suitable database program is installed, [ErrVersion] if another major
// version wrote the directory, [ErrForeign] if a PostgreSQL that Carve did not start runs on it.
func Start(ctx context.Context, cfg Config) (*DB, error) {
	cfg = cfg.withDefaults()
	var up starter
	switch cfg.Engine {
	case Postgres:
		up = startPostgres
	case Cockroach:
		up = startCockroach
	default:
		return nil, fmt.Errorf("embedded database: engine %q is not one of %q and %q", cfg.Engine, Postgres, Cockroach)
	}
	h, err := openDirectory(cfg.DataDir)
	if err != nil {
		return nil, fmt.Errorf("embedded database: %w", err)
	}
	proc, dsn, err := claimAndStart(ctx, cfg, h, up)
	if err != nil {
		err = errors.Join(err, h.settle(), h.close())
		return nil, fmt.Errorf("embedded database in %s: %w", h.dir, err)
	}
	cfg.Log.InfoContext(ctx, "embedded database started", "engine", string(cfg.Engine), "dir", h.dir, "pid", proc.pid(), "dsn", dsn)
	return &DB{dsn: dsn, engine: cfg.Engine, data: h, proc: proc, log: cfg.Log}, nil
}

// starter starts an engine's process, and returns it with the DSN.
type starter func(ctx context.Context, cfg Config, h *directory) (*process, string, error)

func claimAndStart(ctx context.Context, cfg Config, h *directory, up starter) (*process, string, error) {
	if err := h.claimEngine(ctx, cfg.Log); err != nil {
		return nil, "", err
	}
	proc, dsn, err := up(ctx, cfg, h)
	if err != nil {
		return nil, "", err
	}
	h.handOver()
	if err := h.sign(dsn); err != nil {
		return nil, "", abandon(proc, cfg.Log, err)
	}
	return proc, dsn, nil
}

// DSN returns the database's connection URL, for pgx and libpq programs.
func (db *DB) DSN() string { return db.dsn }

// Engine returns the running engine.
func (db *DB) Engine() Engine { return db.engine }

// Exited returns a channel that is closed when the database process has ended, for any reason.
func (db *DB) Exited() <-chan struct{} { return db.proc.exited }

// Err returns nil while the database runs and after a Stop. If the database ended by itself, the error has its exit status and its last log lines.
func (db *DB) Err() error {
	if !db.proc.hasExited() || db.stopping.Load() {
		return nil
	}
	return fmt.Errorf("embedded database in %s ended by itself: %w", db.data.dir, db.proc.report)
}

// Stop shuts the database down. It ends the sessions and writes all data. When it returns, another server may use the data directory. If the database
// does not end in time, or when ctx ends, Stop sends stronger signals (see stopSteps). Even then no committed data is lost, because the next start
// recovers it. Stop may be called more than once, and after the database ended by itself.
func (db *DB) Stop(ctx context.Context) error {
	db.stop.Do(func() {
		// If the database ended by itself, Err still returns the error.
		db.stopping.Store(!db.proc.hasExited())
		err := db.proc.stop(ctx, db.log)
		db.data.forgetSocketDir()
		db.stopErr = errors.Join(err, db.data.settle(), db.data.close())
		db.log.InfoContext(ctx, "embedded database stopped", "engine", string(db.engine), "dir", db.data.dir)
	})
	return db.stopErr
}
