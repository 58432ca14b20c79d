package crdb

import (
	"context"
	"errors"

	"github.com/cockroachdb/cockroach-go/v2/crdb"

	"github.com/carve-ipam/carve/internal/crdb/outcome"
)

// cockroach implements engine for CockroachDB, the product's database.
type cockroach struct{}

func (cockroach) settings() map[string]string {
	s := sharedSettings()
	s["transaction_timeout"] = longestTransaction.String() // the database refuses a later COMMIT
	return s
}

// locks returns false: CockroachDB takes no locks on pages, so SERIALIZABLE alone is enough.
func (cockroach) locks() bool { return false }

// byKeys returns true: for a key array the planner prefers to read a short table as a whole. That scan includes deleted rows until garbage
// collection, by default for 4 hours.
func (cockroach) byKeys() bool { return true }

// durable returns nothing: a majority of its replicas has acknowledged every visible row.
func (cockroach) durable() (ask, write string) { return "", "" }

// inPlaceRetries bounds cockroach-go's restarts inside one transaction. These keep the transaction's place in the queue for contended rows. After
// them the runner pauses and begins a new transaction.
const inPlaceRetries = 5

// attempt runs fn under cockroach-go's retry protocol. On 40001 it rolls back to the savepoint cockroach_restart and runs fn again. Releasing that
// savepoint is the commit.
func (cockroach) attempt(ctx context.Context, c *conn, dry bool, fn func(ctx context.Context) error) error {
	if dry {
		defer c.rollback(ctx)
		return fn(ctx)
	}
	if err := c.begin(ctx); err != nil {
		return err
	}
	err := crdb.ExecuteInTx(crdb.WithMaxRetries(ctx, inPlaceRetries), savepointTx{c}, func() error { return fn(ctx) })
	if _, ok := errors.AsType[*crdb.AmbiguousCommitError](err); ok {
		return outcome.Unknown(err)
	}
	return err
}

// releaseCommit is the statement that commits.
const releaseCommit = "RELEASE SAVEPOINT cockroach_restart"

// savepointTx adapts a connection in a transaction to cockroach-go.
type savepointTx struct{ c *conn }

func (r savepointTx) Exec(ctx context.Context, sql string, args ...any) error {
	if sql == releaseCommit && ctx.Err() == nil {
		return r.c.awaitCommit(ctx, func(ctx context.Context) error { return r.c.runCommit(ctx, sql) })
	}
	_, err := r.c.Exec(ctx, sql, args...)
	return err
}

// Commit ends the transaction after RELEASE, which was the commit, so cockroach-go may drop the result. If it fails, the pool discards the
// connection.
func (r savepointTx) Commit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackLimit)
	defer cancel()
	_, err := r.c.pool.Exec(ctx, "commit")
	return err
}

func (r savepointTx) Rollback(ctx context.Context) error {
	r.c.rollback(ctx)
	return nil
}
