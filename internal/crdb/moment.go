package crdb

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/carve-ipam/carve/internal/alloc/locks"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/crdb/outcome"
)

// beginMoment begins a transaction with the connection's defaults. It is read-only, and all its statements use one snapshot.
const beginMoment = "begin"

// Snapshot implements storage.View.
func (s *Store) Snapshot(ctx context.Context, op string, fn func(context.Context, storage.Reader) error) error {
	begin := func(ctx context.Context, c *pgxpool.Conn) error {
		_, err := c.Exec(ctx, beginMoment)
		return err
	}
	return s.readOnly(ctx, op, s.pool, s.shares.reading, begin, func(ctx context.Context, q lookup.Querier) error {
		return fn(ctx, s.readerOn(q))
	})
}

// readOnly runs fn in a read-only transaction, which the function begin starts. The connection comes from pool, and the request needs a slot in its
// project's share.
func (s *Store) readOnly(
	ctx context.Context, op string, pool *pgxpool.Pool, share *locks.FairSemaphore,
	begin func(context.Context, *pgxpool.Conn) error, fn func(context.Context, lookup.Querier) error,
) error {
	return s.repeat(ctx, op, true, func(ctx context.Context) error {
		leave, err := enter(ctx, share)
		if err != nil {
			return err
		}
		defer leave()
		c, err := pool.Acquire(ctx)
		if err != nil {
			return err
		}
		defer c.Release()
		if err = begin(ctx, c); err == nil {
			err = fn(ctx, s.inAttempt(ctx, c))
		}
		if err != nil {
			endReading(ctx, c, "rollback")
			return outcome.OfClosure(err, c.Conn())
		}
		endReading(ctx, c, "commit") // a failed COMMIT does no harm, because the transaction only read
		return nil
	})
}

// endReading ends a transaction with a statement, within rollbackLimit. If the statement fails, the pool discards the connection.
func endReading(ctx context.Context, c *pgxpool.Conn, statement string) {
	if c.Conn().IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackLimit)
	defer cancel()
	_, _ = c.Exec(ctx, statement)
}

// readerOn returns a Reader that uses one connection.
func (s *Store) readerOn(q lookup.Querier) lookup.Reader {
	return s.readerBy(func(_ context.Context, _ string, fn func(lookup.Querier) error) error { return fn(q) })
}

// readerBy returns a Reader that uses the function run.
func (s *Store) readerBy(run lookup.Run) lookup.Reader {
	return lookup.New(s.region, s.regions, run, s.engine.byKeys())
}
