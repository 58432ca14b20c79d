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

// divisionByZero is the SQLSTATE with which lockIdle fails when another transaction holds the lock.
const divisionByZero = "22012"

// rollbackLimit limits the time for a rollback. A rollback runs even after the request's deadline.
const rollbackLimit = 2 * time.Second

// conn is a connection that runs one transaction. It sends BEGIN together with the first statement, which saves a round trip.
type conn struct {
	pool          *pgxpool.Conn
	writers       *dial.Writers
	begun         bool
	locks         *lockSet        // nil: the transaction is SERIALIZABLE
	at            time.Time       // the database's time when the transaction got its last lock; zero: it has no lock yet
	pendingCommit <-chan struct{} // set when the caller stopped waiting for a COMMIT, and closed when the server responds to that COMMIT; nil: no such COMMIT
}

// preamble returns the statements that must run before the next statement: BEGIN, and the locks requested since the last statement. Each lock is a
// separate statement before the caller's statement. So the caller's statement gets a snapshot that is taken after the lock.
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
		keys, exclusive := c.locks.take()
		if c.locks.noWait && len(keys) > 0 {
			b.Queue(lockAtOnce, keys, exclusive)
			return b
		}
		c.locks.requested = keys
		for i, key := range keys { // usually two keys; one statement for all keys is slower
			switch {
			case exclusive[i]:
				b.Queue(lockExclusive, key)
			case len(c.locks.tryShared) > 0: // with storage.Locks.TryShared, all shared locks are in tryShared, and the transaction waits for none
				b.Queue(lockIdle, key)
			default:
				b.Queue(lockShared, key)
			}
		}
	}
	return b
}

// begin begins the transaction, if it has not begun yet, and gets the requested locks.
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

// readPreamble reads the results of preamble's n statements.
func (c *conn) readPreamble(results pgx.BatchResults, n int) error {
	if !c.begun {
		c.begun = true // if BEGIN fails, every later statement fails too, and a rollback does no harm
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
			if dial.IsState(err, divisionByZero) && !c.locks.noWait {
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

// SendBatch implements lookup.Querier. It sends BEGIN and the requested locks before b, in the same round trip.
func (c *conn) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	with := c.preamble()
	n := with.Len()
	if n == 0 {
		return c.pool.SendBatch(ctx, b)
	}
	with.QueuedQueries = append(with.QueuedQueries, b.QueuedQueries...)
	results := c.pool.SendBatch(ctx, with)
	_ = c.readPreamble(results, n) // if it fails, every read from the batch returns the same error
	return results
}

// commit sends COMMIT. Once COMMIT is sent, only the server's definite reply makes the outcome known. Every other error leaves it unknown.
func (c *conn) commit(ctx context.Context) error {
	if !c.begun {
		return nil // the transaction did nothing
	}
	if err := ctx.Err(); err != nil { // COMMIT was not sent, so the outcome is known: nothing is committed
		c.rollback(ctx)
		return err
	}
	return c.awaitCommit(ctx, func(ctx context.Context) error { return c.runCommit(ctx, "commit") })
}

// runCommit runs sql, the statement that commits.
func (c *conn) runCommit(ctx context.Context, sql string) error {
	tag, err := c.pool.Exec(ctx, sql)
	return commitError(tag, err)
}

// commitError returns a COMMIT's error, or nil if the transaction is committed.
func commitError(tag pgconn.CommandTag, err error) error {
	switch {
	case err != nil:
		return outcome.AtCommit(err)
	case tag.String() == "ROLLBACK": // an earlier statement failed, so the server rolled back
		return pgx.ErrTxCommitRollback
	}
	return nil
}

// runWhole sends a complete transaction in one round trip: BEGIN, locks, statements and COMMIT. Each statement fails if it does not change exactly
// the rows that it names. After a failure the server skips all later statements, including COMMIT.
func (c *conn) runWhole(ctx context.Context, statements *write.Statements, many bool) error {
	b := c.preamble()
	n := b.Len()
	if many && c.locks == nil {
		statements.Prepend(waitBriefly)
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
		err = commitError(results.Exec())
		if closing := results.Close(); err == nil && closing != nil {
			err = outcome.AtCommit(closing)
		}
		return err
	})
}

// awaitCommit runs commit and waits for its result until ctx ends. If ctx ends first, it returns an unknown outcome. commit then continues in the
// background and keeps the connection until the server has responded. After that, release returns the connection to its pool (see dial.Link and
// dial.Writers).
func (c *conn) awaitCommit(ctx context.Context, commit func(context.Context) error) error {
	link := dial.LinkOf(c.pool.Conn())
	link.BeginCommit()
	result, done := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(done)
		err := commit(context.WithoutCancel(ctx))
		if !outcome.IsUnknown(err) {
			if w := link.EndCommit(); w != nil && err == nil {
				err = outcome.Unknown(fmt.Errorf("the server warned: %s", w.Message))
			}
		}
		result <- err
	}()
	select {
	case err := <-result:
		<-done
		return err
	case <-ctx.Done():
	}
	c.pendingCommit = done
	c.writers.Abandon(link)
	return outcome.Unknown(ctx.Err())
}

// release returns the connection to its pool and then calls freeSlot, which frees the connection's slot for a writer. If a COMMIT is still in flight
// on the connection, release first waits for the response in the background.
func (c *conn) release(freeSlot func()) {
	if c.pendingCommit == nil {
		c.pool.Release()
		freeSlot()
		return
	}
	link := dial.LinkOf(c.pool.Conn())
	go func() {
		<-c.pendingCommit
		c.writers.CommitEnded(link)
		c.pool.Release()
		freeSlot()
	}()
}

// rollback rolls the transaction back, within rollbackLimit. If that fails, the pool discards the connection.
func (c *conn) rollback(ctx context.Context) {
	if !c.begun || c.pendingCommit != nil || c.pool.Conn().IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackLimit)
	defer cancel()
	_, _ = c.pool.Exec(ctx, "rollback")
}
