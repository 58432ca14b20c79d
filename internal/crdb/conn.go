package crdb

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

const beginStatement = "begin isolation level serializable read write"

// rollbackLimit bounds a rollback, which runs even when the request's own time is up.
const rollbackLimit = 2 * time.Second

// conn is a connection in a transaction that begins with its first statement, in the same round trip.
type conn struct {
	pool  *pgxpool.Conn
	begun bool
}

// begin starts the transaction now.
func (c *conn) begin(ctx context.Context) error {
	if c.begun {
		return nil
	}
	if _, err := c.pool.Exec(ctx, beginStatement); err != nil {
		return err
	}
	c.begun = true
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

// SendBatch implements querier: one round trip, with BEGIN in front if the transaction has not begun.
func (c *conn) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	if c.begun {
		return c.pool.SendBatch(ctx, b)
	}
	c.begun = true // if BEGIN fails so does every statement behind it, and rollback is harmless
	with := &pgx.Batch{}
	with.Queue(beginStatement)
	with.QueuedQueries = append(with.QueuedQueries, b.QueuedQueries...)
	results := c.pool.SendBatch(ctx, with)
	_, _ = results.Exec() // BEGIN's own result; if it failed, the batch answers the same error from now on
	return results
}

// commit sends COMMIT. Whatever goes wrong from here on, other than a definite answer of the server, leaves the outcome unknown.
func (c *conn) commit(ctx context.Context) error {
	if !c.begun {
		return nil // nothing was done
	}
	tag, err := c.pool.Exec(ctx, "commit")
	if err != nil {
		return atCommit(err)
	}
	if tag.String() == "ROLLBACK" { // the server's way of saying that a statement had failed before
		return pgx.ErrTxCommitRollback
	}
	return nil
}

// rollback ends the transaction, within its own time. A connection that cannot even do that is thrown away by the pool.
func (c *conn) rollback(ctx context.Context) {
	if !c.begun || c.pool.Conn().IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackLimit)
	defer cancel()
	_, _ = c.pool.Exec(ctx, "rollback")
}
