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

// divisionByZero is the SQLSTATE of lockIdle when another transaction has the lock.
const divisionByZero = "22012"

// rollbackLimit bounds a rollback, which runs even when the request's own time is up.
const rollbackLimit = 2 * time.Second

// conn is a connection in a transaction that begins with its first statement, in the same round trip.
type conn struct {
	pool    *pgxpool.Conn
	writers *dial.Writers
	begun   bool
	locks   *lockSet        // nil: the transaction is SERIALIZABLE
	at      time.Time       // by the database's clock, when the last lock was got; zero: there was none
	left    <-chan struct{} // closed when the COMMIT is answered that its caller did not wait for; nil: there is none
}

// ahead is what has to run before the next statement: BEGIN, and the locks that were asked for since the last one. A statement
// behind a lock has a snapshot of its own, taken when the lock was got.
func (c *conn) ahead() *pgx.Batch {
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
		if c.locks.atOnce && len(keys) > 0 {
			b.Queue(lockAtOnce, keys, alone)
			return b
		}
		c.locks.asked = keys
		for i, key := range keys { // mostly two; one statement for all of them takes longer
			_, idle := c.locks.shared[key]
			switch {
			case alone[i]:
				b.Queue(lockAlone, key)
			case idle:
				b.Queue(lockIdle, key)
			default:
				b.Queue(lockShared, key)
			}
		}
	}
	return b
}

// begin starts the transaction now, if it has not begun, and gets the locks that were asked for.
func (c *conn) begin(ctx context.Context) error {
	b := c.ahead()
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
	err := c.wentAhead(results, b.Len())
	return errors.Join(err, results.Close())
}

// wentAhead takes the results of what ahead has put in front of the next statement: BEGIN, if there was one, and n in all.
func (c *conn) wentAhead(results pgx.BatchResults, n int) error {
	if !c.begun {
		c.begun = true // if BEGIN fails so does every statement behind it, and rollback is harmless
		if _, err := results.Exec(); err != nil {
			return err
		}
		n--
	}
	for i := range n {
		scan := []any{nil, &c.at}
		if c.locks.atOnce {
			scan = append(scan, nil)
		}
		if err := results.QueryRow().Scan(scan...); err != nil {
			if pg, is := errors.AsType[*pgconn.PgError](err); is && pg.Code == divisionByZero && !c.locks.atOnce {
				c.locks.busy = c.locks.asked[i]
			}
			return err
		}
	}
	return nil
}

// Query implements querier.
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

// SendBatch implements lookup.Querier: one round trip, with BEGIN and locks in front if there are any to come.
func (c *conn) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	with := c.ahead()
	n := with.Len()
	if n == 0 {
		return c.pool.SendBatch(ctx, b)
	}
	with.QueuedQueries = append(with.QueuedQueries, b.QueuedQueries...)
	results := c.pool.SendBatch(ctx, with)
	_ = c.wentAhead(results, n) // if one failed, the batch answers the same error from now on
	return results
}

// commit sends COMMIT. Whatever goes wrong from here on, other than a definite answer of the server, leaves the outcome unknown.
func (c *conn) commit(ctx context.Context) error {
	if !c.begun {
		return nil // nothing was done
	}
	if err := ctx.Err(); err != nil { // and nothing will be
		c.rollback(ctx)
		return err
	}
	return c.decide(ctx, func(ctx context.Context) error { return c.runCommit(ctx, "commit") })
}

// runCommit runs the statement that commits.
func (c *conn) runCommit(ctx context.Context, sql string) error {
	tag, err := c.pool.Exec(ctx, sql)
	return committed(tag, err)
}

// committed sorts what COMMIT answered.
func committed(tag pgconn.CommandTag, err error) error {
	switch {
	case err != nil:
		return outcome.AtCommit(err)
	case tag.String() == "ROLLBACK": // the server's way of saying that a statement had failed before
		return pgx.ErrTxCommitRollback
	}
	return nil
}

// whole sends a whole transaction in one round trip: BEGIN, locks, statements that fail by themselves unless they hit what they name, and COMMIT. When one
// fails the server passes over the others, COMMIT included.
func (c *conn) whole(ctx context.Context, statements *write.Statements, many bool) error {
	b := c.ahead()
	n := b.Len()
	if many && c.locks == nil {
		statements.Before(waitAMoment)
	}
	statements.QueueInto(b)
	b.Queue("commit")
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.decide(ctx, func(ctx context.Context) error {
		results := c.pool.SendBatch(ctx, b)
		err := c.wentAhead(results, n)
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

// decide runs what commits, and waits for the answer for as long as its caller does. It is not cancelled then, and the
// connection is not given up: it is given back when the server has answered (link, writers).
func (c *conn) decide(ctx context.Context, commit func(context.Context) error) error {
	link := dial.LinkOf(c.pool.Conn())
	link.Decide()
	told, done := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(done)
		err := commit(context.WithoutCancel(ctx))
		if !outcome.IsUnknown(err) {
			if w := link.Decided(); w != nil && err == nil {
				err = outcome.NotKnown(fmt.Errorf("the server warned: %s", w.Message))
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
	return outcome.NotKnown(ctx.Err())
}

// release gives the connection back, when it has no COMMIT under way any more, and then the place with it.
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

// rollback ends the transaction, within its own time. A connection that cannot even do that is thrown away by the pool.
func (c *conn) rollback(ctx context.Context) {
	if !c.begun || c.left != nil || c.pool.Conn().IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackLimit)
	defer cancel()
	_, _ = c.pool.Exec(ctx, "rollback")
}
