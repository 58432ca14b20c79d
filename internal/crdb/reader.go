package crdb

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/ipam"
)

// querier is a connection, in a transaction or not.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// reader implements storage.Reader over whatever runs its statements: the transaction's connection, or single reads.
type reader struct {
	region string
	places *places // the regions that there are besides
	run    func(ctx context.Context, op string, fn func(querier) error) error
}

// one reads a single row; no row is not_found with the sentence.
func one[T any](ctx context.Context, r reader, name string, scan func(pgx.CollectableRow) (T, error), missing func() error, args ...any) (T, error) {
	var out T
	err := r.run(ctx, name, func(q querier) error {
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

// list reads rows.
func list[T any](ctx context.Context, r reader, name string, scan func(pgx.CollectableRow) (T, error), args ...any) ([]T, error) {
	var out []T
	err := r.run(ctx, name, func(q querier) error {
		rows, err := q.Query(ctx, query.Get(name), args...)
		if err != nil {
			return err
		}
		out, err = collect(rows, scan)
		return err
	})
	return out, err
}

func collect[T any](rows pgx.Rows, scan func(pgx.CollectableRow) (T, error)) ([]T, error) {
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (T, error) { return scan(row) })
}

func notFound(format string, args ...any) func() error {
	return func() error { return ipam.Errorf(ipam.CodeNotFound, format, args...) }
}
