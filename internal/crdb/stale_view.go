package crdb

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/carve-ipam/carve/internal/alloc/pools"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/lookup"
)

// Stale reads have their own connections, so that long lists do not delay claims. They get a quarter of the store's connections, within these bounds.
const (
	minStaleConnections = 2
	maxStaleConnections = 16
)

func newStaleConnections(ctx context.Context, cfg *pgxpool.Config) (*pgxpool.Pool, error) {
	own := cfg.Copy()
	own.MaxConns = min(max(cfg.MaxConns/4, minStaleConnections), maxStaleConnections)
	return pgxpool.NewWithConfig(ctx, own)
}

// staleView implements storage.View with reads that may be some seconds old.
type staleView struct {
	lookup.Reader
	store *Store
	at    *storage.Moment // the earliest time among its reads
}

// Behind implements storage.Store.
func (s *Store) Behind(at *storage.Moment) storage.View { return s.stalePool(at) }

// Samples returns a store for the pool sampler. Its reads may be some seconds old. They use the connections for stale reads, so they do not delay
// claims.
func (s *Store) Samples() pools.SampleStore { return s.stalePool(new(storage.Moment)) }

func (s *Store) stalePool(at *storage.Moment) *staleView {
	f := &staleView{store: s, at: at}
	f.Reader = s.readerBy(f.read)
	return f
}

// read runs fn like Store.read, but in a read-only transaction and at a time that the engine chooses. It records that time in f.at. The read sees
// every commit before that time.
func (f *staleView) read(ctx context.Context, op string, fn func(lookup.Querier) error) error {
	err := f.readOnly(ctx, op, func(_ context.Context, q lookup.Querier) error { return fn(q) })
	if beforeSchema(err) {
		return f.store.readNow(ctx, op, fn)
	}
	return err
}

// Snapshot implements storage.View.
func (f *staleView) Snapshot(ctx context.Context, op string, fn func(context.Context, storage.Reader) error) error {
	err := f.readOnly(ctx, op, func(ctx context.Context, q lookup.Querier) error { return fn(ctx, f.store.readerOn(q)) })
	if beforeSchema(err) {
		return f.store.Snapshot(ctx, op, fn)
	}
	return err
}

func (f *staleView) readOnly(ctx context.Context, op string, fn func(context.Context, lookup.Querier) error) error {
	s := f.store
	var at time.Time
	begin := func(ctx context.Context, c *pgxpool.Conn) (err error) {
		at, err = s.beginStale(ctx, c)
		return err
	}
	err := s.readOnly(ctx, op, s.stale, s.shares.stale, begin, fn)
	if err == nil {
		f.at.Note(at)
	}
	return err
}

func (s *Store) beginStale(ctx context.Context, c *pgxpool.Conn) (at time.Time, err error) {
	begin, ask := s.engine.staleRead()
	b := &pgx.Batch{}
	b.Queue(begin)
	b.Queue(ask)
	results := c.SendBatch(ctx, b)
	if _, err = results.Exec(); err == nil {
		at, err = s.engine.moment(results.QueryRow())
	}
	return at, errors.Join(err, results.Close())
}

// beforeSchema reports whether a stale read failed because it is older than the schema: at the time of its data, a table or column did not exist yet.
// This happens in the first seconds after a migration.
func beforeSchema(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && slices.Contains([]string{"3D000", "42P01", "42703", "42704"}, pg.Code)
}
