// Package lookup reads the database for the use cases. The statements are in package query, and the types of rows in package rows.
package lookup

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Querier is a connection, inside or outside a transaction.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// Run runs the statements of an operation.
type Run func(ctx context.Context, op string, fn func(Querier) error) error

// Through returns a Run that uses one connection.
func Through(q Querier) Run {
	return func(_ context.Context, _ string, fn func(Querier) error) error { return fn(q) }
}

// Regions lists the regions of the database.
type Regions interface {
	Several() bool        // whether the database has more than one region
	Others() []string     // all regions except the store's own
	Everywhere() []string // all regions, with the store's own first
}

// Reader implements storage.Reader. Its Run decides whether the reads use a transaction's connection or are single reads.
type Reader struct {
	region  string
	regions Regions
	run     Run
	byKeys  bool // whether a statement must name rows by single keys on this engine
}

// New returns a reader for a server in a region. byKeys is true for an engine whose plan for an array of keys may read the rows between them.
func New(region string, places Regions, run Run, byKeys bool) Reader {
	return Reader{region, places, run, byKeys}
}

// one reads a single row. If there is no row, it returns the error of missing.
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

// Collect reads all rows of a result.
func Collect[T any](rows pgx.Rows, scan func(pgx.CollectableRow) (T, error)) ([]T, error) {
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (T, error) { return scan(row) })
}

// NotFound returns a function that returns a not_found error with this message.
func NotFound(format string, args ...any) func() error {
	return func() error { return ipam.Errorf(ipam.CodeNotFound, format, args...) }
}
