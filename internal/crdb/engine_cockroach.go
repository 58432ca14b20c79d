package crdb

import (
	"context"
	"errors"

	"github.com/cockroachdb/cockroach-go/v2/crdb"

	"github.com/carve-ipam/carve/internal/crdb/outcome"
)

// cockroach is CockroachDB, the product's database.
type cockroach struct{}

func (cockroach) settings() map[string]string {
	s := sharedSettings()
	s["transaction_timeout"] = longestTransaction.String() // a COMMIT that comes later is refused
	return s
}

// locks: there are no locks of pages here, so that SERIALIZABLE alone does.
func (cockroach) locks() bool { return false }

// byKeys: a short table is rather read as a whole, and what was deleted from it since garbage was collected, 4 hours ago by default, is read with it.
func (cockroach) byKeys() bool { return true }

// durable: what can be seen is acknowledged by most of its replicas.
func (cockroach) durable() (ask, write string) { return "", "" }

// inPlaceRetries bounds cockroach-go's restarts inside one transaction, which keep its place in the queue for contended
// rows; after that the runner begins a new one, with a pause.
const inPlaceRetries = 5

// attempt runs fn under cockroach-go's retry protocol: on 40001 it rolls back to the savepoint cockroach_restart and
// runs fn again; RELEASE of that savepoint is the commit.
func (cockroach) attempt(ctx context.Context, c *conn, dry bool, fn func(ctx context.Context) error) error {
	if dry {
		defer c.rollback(ctx)
		return fn(ctx)
	}
	if err := c.begin(ctx); err != nil {
		return err
	}
	err := crdb.ExecuteInTx(crdb.WithMaxRetries(ctx, inPlaceRetries), restartable{c}, func() error { return fn(ctx) })
	if _, ok := errors.AsType[*crdb.AmbiguousCommitError](err); ok {
		return outcome.NotKnown(err)
	}
	return err
}

// releaseCommit is the statement that commits.
const releaseCommit = "RELEASE SAVEPOINT cockroach_restart"

// restartable is a connection in a transaction as cockroach-go drives it.
type restartable struct{ c *conn }

func (r restartable) Exec(ctx context.Context, sql string, args ...any) error {
	if sql == releaseCommit && ctx.Err() == nil {
		return r.c.decide(ctx, func(ctx context.Context) error { return r.c.runCommit(ctx, sql) })
	}
	_, err := r.c.Exec(ctx, sql, args...)
	return err
}

// Commit's result may be dropped by cockroach-go: RELEASE was the commit. A connection that cannot even do this is thrown away by the pool.
func (r restartable) Commit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackLimit)
	defer cancel()
	_, err := r.c.pool.Exec(ctx, "commit")
	return err
}

func (r restartable) Rollback(ctx context.Context) error {
	r.c.rollback(ctx)
	return nil
}
