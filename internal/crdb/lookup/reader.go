// Package lookup reads: what the use cases ask of a database besides transactions, in statements of query and rows of rows.
package lookup

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Querier is a connection, in a transaction or not.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// Run runs an operation's statements.
type Run func(ctx context.Context, op string, fn func(Querier) error) error

// Through runs statements on one connection.
func Through(q Querier) Run {
	return func(_ context.Context, _ string, fn func(Querier) error) error { return fn(q) }
}

// Places says which regions there are.
type Places interface {
	Several() bool        // there are more than the own one
	Others() []string     // without the own one
	Everywhere() []string // the own one first
}

// Reader implements storage.Reader over whatever runs its statements: the transaction's connection, or single reads.
type Reader struct {
	region string
	places Places
	run    Run
	byKeys bool // of the database: several sizes are read by their stock
}

// New makes a reader in a region. byKeys is for a database that finds rows of an array by reading others.
func New(region string, places Places, run Run, byKeys bool) Reader {
	return Reader{region, places, run, byKeys}
}

// one reads a single row; no row is not_found with the sentence.
func one[T any](ctx context.Context, r Reader, name string, scan func(pgx.CollectableRow) (T, error), missing func() error, args ...any) (T, error) {
	var out T
	err := r.run(ctx, name, func(q Querier) error {
		rows, err := q.Query(ctx, query.Get(name), args...)
		if err != nil {
			return err
		}
		v, err := pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (T, error) { return scan(row) })
		if errors.Is(err, pgx.ErrNoRows) {
			return missing()
		}
		out = v
		return err
	})
	return out, err
}

// List reads rows.
func List[T any](ctx context.Context, r Reader, name string, scan func(pgx.CollectableRow) (T, error), args ...any) ([]T, error) {
	var out []T
	err := r.run(ctx, name, func(q Querier) error {
		rows, err := q.Query(ctx, query.Get(name), args...)
		if err != nil {
			return err
		}
		out, err = Collect(rows, scan)
		return err
	})
	return out, err
}

// Collect reads the rows of an answer.
func Collect[T any](rows pgx.Rows, scan func(pgx.CollectableRow) (T, error)) ([]T, error) {
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (T, error) { return scan(row) })
}

// NotFound makes not_found with a sentence.
func NotFound(format string, args ...any) func() error {
	return func() error { return ipam.Errorf(ipam.CodeNotFound, format, args...) }
}
