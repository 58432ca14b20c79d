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
	s["transaction_timeout"] = longestTransaction.String() // the database refuses a COMMIT after this time
	return s
}

// usesLocks returns false. CockroachDB does not lock pages, so unrelated transactions do not conflict under SERIALIZABLE.
func (cockroach) usesLocks() bool { return false }

// byKeys returns true. For an array of keys, CockroachDB's planner prefers to scan a whole short table. That scan also reads deleted rows until
// garbage collection, by default for 4 hours.
func (cockroach) byKeys() bool { return true }

// durable returns two empty statements. On CockroachDB, a majority of the replicas has acknowledged every visible row.
func (cockroach) durable() (ask, write string) { return "", "" }

// inPlaceRetries limits cockroach-go's restarts inside one transaction. Such a restart keeps the transaction's position in the queue for contended
// rows. After the last restart, the runner pauses and begins a new transaction.
const inPlaceRetries = 5

// attempt runs fn under cockroach-go's retry protocol. On SQLSTATE 40001, cockroach-go rolls back to the savepoint cockroach_restart and runs fn
// again. Releasing that savepoint is the commit.
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

// savepointTx adapts a connection in a transaction to cockroach-go's interface.
type savepointTx struct{ c *conn }

func (r savepointTx) Exec(ctx context.Context, sql string, args ...any) error {
	if sql == releaseCommit && ctx.Err() == nil {
		return r.c.awaitCommit(ctx, func(ctx context.Context) error { return r.c.runCommit(ctx, sql) })
	}
	_, err := r.c.Exec(ctx, sql, args...)
	return err
}

// Commit ends the transaction after RELEASE. RELEASE was the real commit, so cockroach-go may ignore Commit's result. If Commit fails, the pool
// discards the connection.
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
