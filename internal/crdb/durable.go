package crdb

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/crdb/outcome"
	"github.com/carve-ipam/carve/internal/ipam"
)

// maxDurableReads bounds Durably's attempts.
const maxDurableReads = 8

// Durably implements storage.Store.
//
// A read is durable when the standby acknowledges a later COMMIT on the same connection. A connection is a session with one server between two
// starts. So the rows that the session read are in this server's log, before the COMMIT's own record. A COMMIT on another connection proves nothing:
// a failover may lie in between. The new primary then acknowledges its own commits, whether it has the rows that the old one showed or not.
//
// So look first runs with all its reads on one connection. The same connection then shows whether its server waits for standbys. If it does not, the
// database promises no more than the first read. If it does, look runs again in a transaction, and that transaction's COMMIT confirms the second
// read. When the connection is lost, Durably starts again.
func (s *Store) Durably(ctx context.Context, look storage.ReadBack) error {
	if ask, _ := s.engine.durable(); ask == "" {
		_, err := look(ctx)
		return err
	}
	for n := 1; ; n++ {
		waits, err := s.readOnce(ctx, look)
		if err != nil || !waits {
			return err
		}
		err = s.transact(ctx, "durable_write", storage.Locks{}, false, func(ctx context.Context, t storage.Tx) error {
			answers, err := look(withReads(ctx, inTransaction(t.(*tx).conn))) //nolint:errcheck,forcetypeassert // transact passes a *tx
			if err != nil || !answers {
				return err
			}
			return t.Confirm(ctx)
		})
		if !ipam.IsCode(err, ipam.CodeOutcomeUnknown) || ctx.Err() != nil || n == maxDurableReads {
			return err
		}
	}
}

// readOnce runs look on one connection, and then asks on the same connection whether a COMMIT waits for other servers. It does not ask when look
// found nothing.
func (s *Store) readOnce(ctx context.Context, look storage.ReadBack) (waits bool, err error) {
	for range maxDurableReads {
		one := &oneConnection{store: s}
		ctx := withReads(ctx, one.read)
		var answers bool
		if answers, err = look(ctx); err == nil && answers {
			waits, err = s.commitWaits(ctx)
		}
		one.release()
		if err != nil || !answers || one.used <= 1 {
			return waits && answers, err
		}
	}
	return false, outcome.Deadline(nil)
}

func (s *Store) commitWaits(ctx context.Context) (yes bool, err error) {
	ask, _ := s.engine.durable()
	err = s.read(ctx, "durable_ask", func(q lookup.Querier) error {
		yes, err = asked(ctx, q, ask)
		return err
	})
	return yes, err
}

func asked(ctx context.Context, q lookup.Querier, ask string) (bool, error) {
	rows, err := q.Query(ctx, ask)
	if err != nil {
		return false, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowTo[bool])
}

// Confirm implements storage.Tx.
func (t *tx) Confirm(ctx context.Context) error {
	if t.durable == nil || t.dry {
		return nil
	}
	ask, write := t.durable()
	if ask == "" {
		return nil
	}
	if waits, err := asked(ctx, t.conn, ask); err != nil || !waits {
		return err
	}
	b := &pgx.Batch{}
	b.Queue(write)
	return t.conn.SendBatch(ctx, b).Close()
}

// reads runs a context's reads on a certain connection instead of any free one.
type reads func(ctx context.Context, op string, fn func(lookup.Querier) error) error

type readsKey struct{}

func withReads(ctx context.Context, r reads) context.Context {
	return context.WithValue(ctx, readsKey{}, r)
}

func readsOf(ctx context.Context) (reads, bool) {
	r, ok := ctx.Value(readsKey{}).(reads)
	return r, ok
}

// inTransaction returns reads that run on a transaction's connection. A read that fails ends the attempt.
func inTransaction(c *conn) reads {
	var mu sync.Mutex // a use case may read in parallel
	return func(_ context.Context, _ string, fn func(lookup.Querier) error) error {
		mu.Lock()
		defer mu.Unlock()
		return fn(c)
	}
}

// oneConnection runs reads on one connection, as long as that connection lasts.
type oneConnection struct {
	store *Store

	mu    sync.Mutex
	conn  *pgxpool.Conn
	leave func() // frees the slot in the project's share
	used  int    // connections used; if more than one, the reads may come from different servers
}

func (o *oneConnection) read(ctx context.Context, op string, fn func(lookup.Querier) error) error {
	return o.store.repeat(ctx, op, true, func(ctx context.Context) error {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.conn != nil && o.conn.Conn().IsClosed() {
			o.release()
		}
		if o.conn == nil {
			leave, err := enter(ctx, o.store.shares.reading)
			if err != nil {
				return err
			}
			c, err := o.store.pool.Acquire(ctx)
			if err != nil {
				leave()
				return err
			}
			o.conn, o.leave = c, leave
			o.used++
		}
		return outcome.OfClosure(fn(o.store.inAttempt(ctx, o.conn)), o.conn.Conn())
	})
}

func (o *oneConnection) release() {
	if o.conn != nil {
		o.conn.Release()
		o.leave()
		o.conn = nil
	}
}
