package crdb

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/crdb/outcome"
)

// beginMoment begins a transaction with the connection's defaults. It is read-only, and all its statements use one snapshot.
const beginMoment = "begin"

// Snapshot implements storage.View.
func (s *Store) Snapshot(ctx context.Context, op string, fn func(context.Context, storage.Reader) error) error {
	return s.repeat(ctx, op, true, func(ctx context.Context) error {
		leave, err := enter(ctx, s.shares.reading)
		if err != nil {
			return err
		}
		defer leave()
		c, err := s.pool.Acquire(ctx)
		if err != nil {
			return err
		}
		defer c.Release()
		if _, err = c.Exec(ctx, beginMoment); err == nil {
			err = fn(ctx, s.readerOn(s.inAttempt(ctx, c)))
		}
		if err != nil {
			endStale(ctx, c, "rollback")
			return outcome.OfClosure(err, c.Conn())
		}
		endStale(ctx, c, "commit") // a failed COMMIT does no harm, because the transaction only read
		return nil
	})
}

// readerOn returns a Reader that uses one connection.
func (s *Store) readerOn(q lookup.Querier) lookup.Reader {
	return s.readerBy(lookup.Through(q))
}

// readerBy returns a Reader that uses run.
func (s *Store) readerBy(run lookup.Run) lookup.Reader {
	return lookup.New(s.region, s.regions, run, s.engine.byKeys())
}
