package crdb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/carve-ipam/carve/internal/crdb/dial"
	"github.com/carve-ipam/carve/internal/crdb/outcome"
	"github.com/carve-ipam/carve/internal/crdb/write"
)

const beginStatement = "begin isolation level serializable read write"

// divisionByZero is the SQLSTATE of lockIdle when another transaction holds the lock.
const divisionByZero = "22012"

// rollbackLimit bounds a rollback, which also runs after the request's deadline.
const rollbackLimit = 2 * time.Second

// conn is a connection with one transaction. BEGIN travels with the first statement, in the same round trip.
type conn struct {
	pool    *pgxpool.Conn
	writers *dial.Writers
	begun   bool
	locks   *lockSet        // nil: the transaction is SERIALIZABLE
	at      time.Time       // the database's time when the transaction got its last lock; zero: it has no lock
	left    <-chan struct{} // closed when the server has responded to a COMMIT that its caller abandoned; nil: no COMMIT was abandoned
}

// preamble returns the statements that must run before the next one: BEGIN, and the locks requested since the last statement. A statement after a lock
// gets its own snapshot, taken after the lock.
func (c *conn) preamble() *pgx.Batch {
	b := &pgx.Batch{}
	switch {
	case c.begun:
	case c.locks == nil:
		b.Queue(beginStatement)
	default:
		b.Queue(beginLocking)
	}
	if c.locks != nil {
		keys, alone := c.locks.take()
		if c.locks.noWait && len(keys) > 0 {
			b.Queue(lockAtOnce, keys, alone)
			return b
		}
		c.locks.requested = keys
		for i, key := range keys { // two as a rule; one statement for all keys is slower
			switch {
			case alone[i]:
				b.Queue(lockAlone, key)
			case len(c.locks.tryShared) > 0: // the only shared locks are those in tryShared
				b.Queue(lockIdle, key)
			default:
				b.Queue(lockShared, key)
			}
		}
	}
	return b
}

// begin starts the transaction, unless it has begun, and gets the requested locks.
func (c *conn) begin(ctx context.Context) error {
	b := c.preamble()
	if b.Len() == 0 {
		return nil
	}
	if b.Len() == 1 && !c.begun {
		if _, err := c.pool.Exec(ctx, b.QueuedQueries[0].SQL); err != nil {
			return err
		}
		c.begun = true
		return nil
	}
	results := c.pool.SendBatch(ctx, b)
	err := c.readPreamble(results, b.Len())
	return errors.Join(err, results.Close())
}

// readPreamble reads the results for the n statements that ahead has put before the next one, BEGIN included.
func (c *conn) readPreamble(results pgx.BatchResults, n int) error {
	if !c.begun {
		c.begun = true // if BEGIN fails, so does every later statement; a rollback is harmless then
		if _, err := results.Exec(); err != nil {
			return err
		}
		n--
	}
	for i := range n {
		scan := []any{nil, &c.at}
		if c.locks.noWait {
			scan = append(scan, nil)
		}
		if err := results.QueryRow().Scan(scan...); err != nil {
			if pg, is := errors.AsType[*pgconn.PgError](err); is && pg.Code == divisionByZero && !c.locks.noWait {
				c.locks.busy = &c.locks.requested[i]
			}
			return err
		}
	}
	return nil
}

// Query implements lookup.Querier.
func (c *conn) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	return c.pool.Query(ctx, sql, args...)
}

// Exec runs a statement.
func (c *conn) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if err := c.begin(ctx); err != nil {
		return pgconn.CommandTag{}, err
	}
	return c.pool.Exec(ctx, sql, args...)
}

// SendBatch implements lookup.Querier. It sends BEGIN and the requested locks in the same round trip, before b.
func (c *conn) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	with := c.preamble()
	n := with.Len()
	if n == 0 {
		return c.pool.SendBatch(ctx, b)
	}
	with.QueuedQueries = append(with.QueuedQueries, b.QueuedQueries...)
	results := c.pool.SendBatch(ctx, with)
	_ = c.readPreamble(results, n) // after a failure, every read from the batch returns the same error
	return results
}

// commit sends COMMIT. From here on, any error except the server's definite reply leaves the outcome unknown.
func (c *conn) commit(ctx context.Context) error {
	if !c.begun {
		return nil // the transaction did nothing
	}
	if err := ctx.Err(); err != nil { // no COMMIT was sent, so it will do nothing
		c.rollback(ctx)
		return err
	}
	return c.awaitCommit(ctx, func(ctx context.Context) error { return c.runCommit(ctx, "commit") })
}

// runCommit runs the statement that commits.
func (c *conn) runCommit(ctx context.Context, sql string) error {
	tag, err := c.pool.Exec(ctx, sql)
	return committed(tag, err)
}

// committed returns a COMMIT's error, if any.
func committed(tag pgconn.CommandTag, err error) error {
	switch {
	case err != nil:
		return outcome.AtCommit(err)
	case tag.String() == "ROLLBACK": // the server rolls back because an earlier statement failed
		return pgx.ErrTxCommitRollback
	}
	return nil
}

// runWhole sends a complete transaction in one round trip: BEGIN, locks, statements and COMMIT. A statement fails unless it hits exactly the rows that
// it names. After a failure the server skips all later statements, COMMIT included.
func (c *conn) runWhole(ctx context.Context, statements *write.Statements, many bool) error {
	b := c.preamble()
	n := b.Len()
	if many && c.locks == nil {
		statements.Before(waitBriefly)
	}
	statements.QueueInto(b)
	b.Queue("commit")
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.awaitCommit(ctx, func(ctx context.Context) error {
		results := c.pool.SendBatch(ctx, b)
		err := c.readPreamble(results, n)
		if err == nil {
			err = statements.Take(results)
		}
		if err != nil {
			_ = results.Close()
			return outcome.BeforeCommit(err)
		}
		err = committed(results.Exec())
		if closing := results.Close(); err == nil && closing != nil {
			err = outcome.AtCommit(closing)
		}
		return err
	})
}

// awaitCommit runs commit and waits for the result until ctx ends. After that it returns an unknown outcome, but commit goes on and keeps the connection.
// release returns the connection when the server has responded (see dial.Link and dial.Writers).
func (c *conn) awaitCommit(ctx context.Context, commit func(context.Context) error) error {
	link := dial.LinkOf(c.pool.Conn())
	link.Decide()
	told, done := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(done)
		err := commit(context.WithoutCancel(ctx))
		if !outcome.IsUnknown(err) {
			if w := link.Decided(); w != nil && err == nil {
				err = outcome.Unknown(fmt.Errorf("the server warned: %s", w.Message))
			}
		}
		told <- err
	}()
	select {
	case err := <-told:
		<-done
		return err
	case <-ctx.Done():
	}
	c.left = done
	c.writers.LeaveAlone(link)
	return outcome.Unknown(ctx.Err())
}

// release returns the connection to the pool when no COMMIT is in flight on it, and then calls place, which frees the connection's slot.
func (c *conn) release(place func()) {
	if c.left == nil {
		c.pool.Release()
		place()
		return
	}
	link := dial.LinkOf(c.pool.Conn())
	go func() {
		<-c.left
		c.writers.Answered(link)
		c.pool.Release()
		place()
	}()
}

// rollback ends the transaction, within rollbackLimit. If it fails, the pool discards the connection.
func (c *conn) rollback(ctx context.Context) {
	if !c.begun || c.left != nil || c.pool.Conn().IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackLimit)
	defer cancel()
	_, _ = c.pool.Exec(ctx, "rollback")
}
