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

// maxDurableReads limits the attempts in Durably.
const maxDurableReads = 8

// Durably implements storage.Store.
//
// A row is durable if a failover cannot lose it. The proof is a later COMMIT on the same connection that a standby acknowledges. A connection is a
// session with one server process that has not restarted. So the rows that the session read are in this server's log, before that COMMIT's record. A
// COMMIT on another connection proves nothing, because a failover may have happened in between. The new primary would acknowledge its own commits
// even if it does not have the old primary's rows.
//
// So Durably has these steps:
//
//  1. It runs readBack with all reads on one connection.
//  2. It asks on the same connection whether the server waits for standbys. If it does not, every visible row is as durable as it will become, and
//     Durably is done.
//  3. If it does, Durably runs readBack again in a transaction. This transaction's COMMIT proves that the second read's rows are durable.
//
// If the connection is lost, Durably starts again.
func (s *Store) Durably(ctx context.Context, readBack storage.ReadBack) error {
	if ask, _ := s.engine.durable(); ask == "" {
		_, err := readBack(ctx)
		return err
	}
	for n := 1; ; n++ {
		waits, err := s.readOnce(ctx, readBack)
		if err != nil || !waits {
			return err
		}
		err = s.transact(ctx, "durable_write", storage.Locks{}, false, func(ctx context.Context, t storage.Tx) error {
			returned, err := readBack(withReads(ctx, inTransaction(t.(*tx).conn))) //nolint:errcheck,forcetypeassert // transact passes a *tx
			if err != nil || !returned {
				return err
			}
			return t.Confirm(ctx)
		})
		if !ipam.IsCode(err, ipam.CodeOutcomeUnknown) || ctx.Err() != nil || n == maxDurableReads {
			return err
		}
	}
}

// readOnce runs the function readBack on one connection. If readBack found data, readOnce asks on the same connection whether a COMMIT waits for
// other servers, and returns the reply.
func (s *Store) readOnce(ctx context.Context, readBack storage.ReadBack) (waits bool, err error) {
	ask, _ := s.engine.durable()
	for range maxDurableReads {
		one := &oneConnection{store: s}
		ctx := withReads(ctx, one.read)
		var returned bool
		if returned, err = readBack(ctx); err == nil && returned {
			err = s.read(ctx, "durable_ask", func(q lookup.Querier) (err error) {
				waits, err = queryBool(ctx, q, ask)
				return err
			})
		}
		one.release()
		if err != nil || !returned || one.used <= 1 {
			return waits && returned, err
		}
	}
	return false, outcome.Deadline(nil)
}

func queryBool(ctx context.Context, q lookup.Querier, ask string) (bool, error) {
	rows, err := q.Query(ctx, ask)
	if err != nil {
		return false, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowTo[bool])
}

// Confirm implements storage.Tx.
func (t *tx) Confirm(ctx context.Context) error {
	if t.dry {
		return nil
	}
	ask, write := t.store.engine.durable()
	if ask == "" {
		return nil
	}
	if waits, err := queryBool(ctx, t.conn, ask); err != nil || !waits {
		return err
	}
	b := &pgx.Batch{}
	b.Queue(write)
	return t.conn.SendBatch(ctx, b).Close()
}

// readRunner runs a context's reads on one fixed connection, instead of on any free connection.
type readRunner func(ctx context.Context, op string, fn func(lookup.Querier) error) error

type readsKey struct{}

func withReads(ctx context.Context, r readRunner) context.Context {
	return context.WithValue(ctx, readsKey{}, r)
}

func readsOf(ctx context.Context) (readRunner, bool) {
	r, ok := ctx.Value(readsKey{}).(readRunner)
	return r, ok
}

// inTransaction returns a function that runs reads on a transaction's connection. If a read fails, the attempt ends.
func inTransaction(c *conn) readRunner {
	var mu sync.Mutex // a use case may read in parallel
	return func(_ context.Context, _ string, fn func(lookup.Querier) error) error {
		mu.Lock()
		defer mu.Unlock()
		return fn(c)
	}
}

// oneConnection runs reads on one connection. If that connection closes, oneConnection takes another connection. used counts the connections.
type oneConnection struct {
	store *Store

	mu    sync.Mutex
	conn  *pgxpool.Conn
	leave func() // frees the slot in the project's share
	used  int    // number of connections so far; if it is above one, the reads may come from different servers
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
