// Package lookup reads the database for the use cases. Package query has its statements, and package rows the row types.
package lookup

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Querier is a connection, with or without a transaction.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// Run runs an operation's statements.
type Run func(ctx context.Context, op string, fn func(Querier) error) error

// Through returns a Run that uses one connection.
func Through(q Querier) Run {
	return func(_ context.Context, _ string, fn func(Querier) error) error { return fn(q) }
}

// Regions lists the database's regions.
type Regions interface {
	Several() bool        // whether the database has other regions
	Others() []string     // all but the store's own
	Everywhere() []string // all, the store's own first
}

// Reader implements storage.Reader. Its Run decides between a transaction's connection and single reads.
type Reader struct {
	region  string
	regions Regions
	run     Run
	byKeys  bool // on this engine, the stock decides how several sizes are read
}

// New returns a reader in a region. byKeys is for an engine that reads other rows to find an array's rows.
func New(region string, places Regions, run Run, byKeys bool) Reader {
	return Reader{region, places, run, byKeys}
}

// one reads a single row. Without a row it returns missing's error.
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

// List reads all rows that a statement returns.
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

// Collect reads all rows in a result.
func Collect[T any](rows pgx.Rows, scan func(pgx.CollectableRow) (T, error)) ([]T, error) {
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (T, error) { return scan(row) })
}

// NotFound returns a function that makes a not_found error with this message.
func NotFound(format string, args ...any) func() error {
	return func() error { return ipam.Errorf(ipam.CodeNotFound, format, args...) }
}
