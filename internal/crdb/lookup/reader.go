// Package lookup reads the database for the use cases. The statements are in package query, and the row types in package rows.
package lookup

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Querier is a connection, inside or outside a transaction.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// Run runs an operation's statements.
type Run func(ctx context.Context, op string, fn func(Querier) error) error

// Regions lists the database's regions.
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
	byKeys  bool // whether a statement must list row keys one by one on this engine
}

// New returns a reader for a server in a region. byKeys is true for an engine whose plan for an array of keys may read the rows between them.
func New(region string, places Regions, run Run, byKeys bool) Reader {
	return Reader{region, places, run, byKeys}
}

// readOne reads a single row. If there is no row, it returns the error from missing.
func readOne[T any](ctx context.Context, r Reader, name string, scan pgx.RowToFunc[T], missing func() error, args ...any) (T, error) {
	var out T
	err := r.run(ctx, name, func(q Querier) error {
		rows, err := q.Query(ctx, query.Get(name), args...)
		if err != nil {
			return err
		}
		if out, err = pgx.CollectExactlyOneRow(rows, scan); errors.Is(err, pgx.ErrNoRows) {
			return missing()
		}
		return err
	})
	return out, err
}

// List reads all rows that a statement returns.
func List[T any](ctx context.Context, r Reader, name string, scan pgx.RowToFunc[T], args ...any) ([]T, error) {
	var out []T
	err := r.run(ctx, name, func(q Querier) error {
		rows, err := q.Query(ctx, query.Get(name), args...)
		if err != nil {
			return err
		}
		out, err = pgx.CollectRows(rows, scan)
		return err
	})
	return out, err
}

// First reads the first row that a statement returns. It returns false if there is no row.
func First[T any](ctx context.Context, r Reader, name string, scan pgx.RowToFunc[T], args ...any) (first T, found bool, err error) {
	list, err := List(ctx, r, name, scan, args...)
	if err != nil || len(list) == 0 {
		return first, false, err
	}
	return list[0], true, nil
}

// firstOrZero reads the first row that a statement returns. If there is no row, it returns the zero value.
func firstOrZero[T any](ctx context.Context, r Reader, name string, scan pgx.RowToFunc[T], args ...any) (T, error) {
	v, _, err := First(ctx, r, name, scan, args...)
	return v, err
}

// exactlyOne reads the row of a statement that always returns one row, such as a count.
func exactlyOne[T any](ctx context.Context, r Reader, name string, scan pgx.RowToFunc[T], args ...any) (T, error) {
	return readOne(ctx, r, name, scan, func() error { return fmt.Errorf("the statement %s returned no row", name) }, args...)
}

// NotFound returns a function that returns a not_found error with this message.
func NotFound(format string, args ...any) func() error {
	return func() error { return ipam.Errorf(ipam.CodeNotFound, format, args...) }
}
