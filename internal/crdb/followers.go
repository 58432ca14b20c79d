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
	"github.com/carve-ipam/carve/internal/crdb/outcome"
)

// A read that may be stale has connections of its own, so that long lists do not keep claims waiting: a quarter of the store's, within these.
const (
	leastFollowers = 2
	mostFollowers  = 16
)

func newFollowers(ctx context.Context, cfg *pgxpool.Config) (*pgxpool.Pool, error) {
	own := cfg.Copy()
	own.MaxConns = min(max(cfg.MaxConns/4, leastFollowers), mostFollowers)
	return pgxpool.NewWithConfig(ctx, own)
}

// follower is a storage.View of what the region knows.
type follower struct {
	lookup.Reader
	store *Store
	at    *storage.Moment // of the earliest of its reads
}

// Behind implements storage.Store.
func (s *Store) Behind(at *storage.Moment) storage.View { return s.behind(at) }

// Samples is what a sampler of pools reads: some seconds old will do, and claims keep their connections.
func (s *Store) Samples() pools.SampleStore { return s.behind(new(storage.Moment)) }

func (s *Store) behind(at *storage.Moment) *follower {
	f := &follower{store: s, at: at}
	f.Reader = s.readerBy(f.read)
	return f
}

// read is Store.read, of one moment that the engine chooses, in a transaction that cannot write. It notes the moment, which is before anything that
// it read.
func (f *follower) read(ctx context.Context, op string, fn func(lookup.Querier) error) error {
	err := f.readOnly(ctx, op, fn)
	if beforeSchema(err) {
		return f.store.readNow(ctx, op, fn)
	}
	return err
}

// OneMoment implements storage.View.
func (f *follower) OneMoment(ctx context.Context, op string, fn func(context.Context, storage.Reader) error) error {
	err := f.readOnly(ctx, op, func(q lookup.Querier) error { return fn(ctx, f.store.readerOn(q)) })
	if beforeSchema(err) {
		return f.store.OneMoment(ctx, op, fn)
	}
	return err
}

func (f *follower) readOnly(ctx context.Context, op string, fn func(lookup.Querier) error) error {
	s := f.store
	return s.repeat(ctx, op, true, func(ctx context.Context) error {
		leave, err := enter(ctx, s.shares.behind)
		if err != nil {
			return err
		}
		defer leave()
		c, err := s.followers.Acquire(ctx)
		if err != nil {
			return err
		}
		defer c.Release()
		at, err := s.beginBehind(ctx, c)
		if err == nil {
			err = fn(s.inAttempt(ctx, c))
		}
		if err != nil {
			endBehind(ctx, c, "rollback")
			return outcome.OfClosure(err, c.Conn())
		}
		endBehind(ctx, c, "commit") // there is nothing to lose
		f.at.Note(at)
		return nil
	})
}

func (s *Store) beginBehind(ctx context.Context, c *pgxpool.Conn) (at time.Time, err error) {
	begin, ask := s.engine.behind()
	b := &pgx.Batch{}
	b.Queue(begin)
	b.Queue(ask)
	results := c.SendBatch(ctx, b)
	if _, err = results.Exec(); err == nil {
		at, err = s.engine.moment(results.QueryRow())
	}
	return at, errors.Join(err, results.Close())
}

// endBehind ends a transaction, within its own time. A connection that cannot even do that is thrown away by the pool.
func endBehind(ctx context.Context, c *pgxpool.Conn, how string) {
	if c.Conn().IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackLimit)
	defer cancel()
	_, _ = c.Exec(ctx, how)
}

// beforeSchema reports whether a read was of a moment at which the database had not got its tables yet, or not all their columns: it was migrated some
// seconds ago.
func beforeSchema(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && slices.Contains([]string{"3D000", "42P01", "42703", "42704"}, pg.Code)
}
