package crdb

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

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

// readBehind is read, of one moment that the engine chooses, in a transaction that cannot write. It notes the moment, which is before anything it read.
func (s *Store) readBehind(ctx context.Context, op string, fn func(lookup.Querier) error) error {
	err := s.readBehindOnly(ctx, op, fn)
	if beforeSchema(err) {
		return s.readNow(ctx, op, fn)
	}
	return err
}

func (s *Store) readBehindOnly(ctx context.Context, op string, fn func(lookup.Querier) error) error {
	return s.repeat(ctx, op, true, func(ctx context.Context) error {
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
		storage.NoteReadAt(ctx, at)
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
