package crdb

import (
	"context"
	"errors"

	"github.com/cockroachdb/cockroach-go/v2/crdb"
)

// cockroach is CockroachDB, the product's database.
type cockroach struct{}

func (cockroach) name() string { return "cockroachdb" }

func (cockroach) settings() map[string]string { return sharedSettings() }

// locks: there are no locks of pages here, so that SERIALIZABLE alone does.
func (cockroach) locks() bool { return false }

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
		return &unknownOutcome{cause: err}
	}
	return err
}

// restartable is a connection in a transaction as cockroach-go drives it.
type restartable struct{ c *conn }

func (r restartable) Exec(ctx context.Context, sql string, args ...any) error {
	_, err := r.c.Exec(ctx, sql, args...)
	return err
}

// Commit's result may be dropped by cockroach-go: RELEASE was the commit.
func (r restartable) Commit(ctx context.Context) error { return r.c.commit(ctx) }

func (r restartable) Rollback(ctx context.Context) error {
	r.c.rollback(ctx)
	return nil
}
