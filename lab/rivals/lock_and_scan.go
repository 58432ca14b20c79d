package rivals

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// schemeSchema has the minimum that the scheme of openLockAndScan needs. This favours the scheme. An address is a number in the pool, without a
// foreign key, name or time. The scheme scans the primary key, which also prevents double allocation.
const schemeSchema = `
CREATE TABLE pools (id BIGINT PRIMARY KEY, size BIGINT NOT NULL);
CREATE TABLE allocations (pool_id BIGINT NOT NULL, address BIGINT NOT NULL, PRIMARY KEY (pool_id, address));
INSERT INTO pools (id, size) VALUES (1, 16777216)`

var errFull = errors.New("the pool is full")

// hold allocates the first n addresses of the pool.
func hold(n int) func(context.Context, *pgxpool.Pool) error {
	return func(ctx context.Context, pool *pgxpool.Pool) error {
		_, err := pool.Exec(ctx, "INSERT INTO allocations (pool_id, address) SELECT 1, n FROM generate_series(0, $1::BIGINT - 1) n", n)
		return err
	}
}

// openLockAndScan measures the scheme of most address managers: lock the pool's row, read the held addresses in order, and take the first gap.
func openLockAndScan(ctx context.Context, db *database, c cell) (*session, error) {
	pool, done, err := openTables(ctx, db, c, schemeSchema, hold(c.held))
	if err != nil {
		return nil, err
	}
	return &session{
		hand: func(ctx context.Context, _ int) (uint64, error) {
			var got int64
			err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) (err error) { //nolint:forbidigo // a rival's transaction, which Carve's runner must not help
				got, err = lockAndTake(ctx, tx)
				return err
			})
			return uint64(got), err //nolint:gosec // not negative
		},
		first: uint64(c.held), //nolint:gosec // not negative
		close: done,
	}, nil
}

func lockAndTake(ctx context.Context, tx pgx.Tx) (int64, error) {
	var size int64
	if err := tx.QueryRow(ctx, "SELECT size FROM pools WHERE id = $1 FOR UPDATE", 1).Scan(&size); err != nil {
		return 0, err
	}
	rows, err := tx.Query(ctx, "SELECT address FROM allocations WHERE pool_id = $1 ORDER BY address", 1)
	if err != nil {
		return 0, err
	}
	free, err := firstGap(rows)
	if err != nil {
		return 0, err
	}
	if free >= size {
		return 0, errFull
	}
	_, err = tx.Exec(ctx, "INSERT INTO allocations (pool_id, address) VALUES ($1, $2)", 1, free)
	return free, err
}

// firstGap reads the rows until the first missing number.
func firstGap(rows pgx.Rows) (free int64, err error) {
	defer rows.Close()
	for rows.Next() {
		var taken int64
		if err := rows.Scan(&taken); err != nil {
			return 0, err
		}
		if taken != free {
			break
		}
		free++
	}
	rows.Close()
	return free, rows.Err()
}
