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

// maxLooks bounds how often Durably begins anew.
const maxLooks = 8

// Durably implements storage.Store.
//
// What a read has seen is durable when a later COMMIT by the same connection is acknowledged by the standby: a connection is a session of one server
// between two starts, so what that session saw is in this server's log, before the COMMIT's own record. By another connection it would prove nothing: a failover
// may lie in between, and the new primary acknowledges what it does itself, whether it has what was seen at the old one or not.
//
// So look runs first with all of its reads by one connection, which then says whether its server waits for others at all: if not, what look saw
// is all that the database promises. If it does, look runs again in a transaction, and it is what that one saw that is confirmed by its COMMIT. Whenever the
// connection is lost on the way, all begins anew with look.
func (s *Store) Durably(ctx context.Context, look storage.Look) error {
	if ask, _ := s.engine.durable(); ask == "" {
		_, err := look(ctx)
		return err
	}
	for n := 1; ; n++ {
		waits, err := s.lookOnce(ctx, look)
		if err != nil || !waits {
			return err
		}
		err = s.transact(ctx, "durable_write", storage.Locks{}, false, func(ctx context.Context, t storage.Tx) error {
			answers, err := look(withReads(ctx, inTransaction(t.(*tx).conn))) //nolint:errcheck,forcetypeassert // transact gives a *tx
			if err != nil || !answers {
				return err
			}
			return t.Confirm(ctx)
		})
		if !ipam.IsCode(err, ipam.CodeOutcomeUnknown) || ctx.Err() != nil || n == maxLooks {
			return err
		}
	}
}

// lookOnce runs look by one connection, and asks by the same one whether COMMITs wait for other servers. It does not ask when look has nothing to answer with.
func (s *Store) lookOnce(ctx context.Context, look storage.Look) (waits bool, err error) {
	for range maxLooks {
		one := &oneConnection{store: s}
		ctx := withReads(ctx, one.read)
		var answers bool
		if answers, err = look(ctx); err == nil && answers {
			waits, err = s.waits(ctx)
		}
		one.release()
		if err != nil || !answers || one.used <= 1 {
			return waits && answers, err
		}
	}
	return false, outcome.Deadline(nil)
}

func (s *Store) waits(ctx context.Context) (yes bool, err error) {
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

// reads is what runs the reads of a context, instead of whichever connection there is.
type reads func(ctx context.Context, op string, fn func(lookup.Querier) error) error

type readsKey struct{}

func withReads(ctx context.Context, r reads) context.Context {
	return context.WithValue(ctx, readsKey{}, r)
}

func readsOf(ctx context.Context) (reads, bool) {
	r, ok := ctx.Value(readsKey{}).(reads)
	return r, ok
}

// inTransaction has reads made by a transaction's connection. A read that fails ends the attempt.
func inTransaction(c *conn) reads {
	var mu sync.Mutex // a use case may read several things at once
	return func(_ context.Context, _ string, fn func(lookup.Querier) error) error {
		mu.Lock()
		defer mu.Unlock()
		return fn(c)
	}
}

// oneConnection makes reads by one connection, for as long as that lasts.
type oneConnection struct {
	store *Store

	mu    sync.Mutex
	conn  *pgxpool.Conn
	leave func() // gives back the connection's place
	used  int    // connections; with more than one, the reads may come from different servers
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
