package pgfault

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// take has the form of a claim: delete one free row that no other transaction has locked.
func (b *bench) take() string {
	return fmt.Sprintf(`with picked as (select id from %[1]s where id >= $1 order by id limit 1 for update skip locked)
		delete from %[1]s where id in (select id from picked) returning id -- a comment at the end`, b.table)
}

// nothingTaken makes every statement with SKIP LOCKED return no rows.
func nothingTaken() Fault { return OnlySQL("skip locked", NoRows()) }

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func ids(t *testing.T, b *bench, q querier, sql string, args ...any) ([]int64, string) {
	t.Helper()
	rows, err := q.Query(b.ctx, sql, args...)
	require.NoError(t, err)
	found, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	require.NoError(t, err)
	return found, rows.CommandTag().String()
}

func TestNoRowsHidesRowsFromSkipLockedOnly(t *testing.T) {
	t.Parallel()
	for _, m := range queryModes {
		t.Run(m.String(), func(t *testing.T) {
			t.Parallel()
			b := setup(t, mode(m))
			b.exec(t, "insert into "+b.table+" (id) values (1), (2)")
			_, tx := b.begin(t)
			found, _ := ids(t, b, tx, b.take(), 0)
			require.Equal(t, []int64{1}, found, "without the rule it takes one")
			require.NoError(t, tx.Rollback(b.ctx))
			b.proxy.SetRules(nothingTaken())

			_, tx = b.begin(t)
			found, tag := ids(t, b, tx, b.take(), 0)
			require.Empty(t, found)
			require.Equal(t, "DELETE 0", tag)
			found, tag = ids(t, b, tx, "select id from "+b.table+" for update skip locked")
			require.Empty(t, found)
			require.Equal(t, "SELECT 0", tag)
			found, _ = ids(t, b, tx, "select id from "+b.table+" order by id")
			require.Equal(t, []int64{1, 2}, found, "exhaustion is for the second, plain read to say")

			other, _ := ids(t, b, b.direct, "select id from "+b.table+" order by id for update nowait")
			require.Equal(t, []int64{1, 2}, other, "no lock is left behind")
			require.NoError(t, tx.Commit(b.ctx))
			require.Equal(t, []int64{1, 2}, b.stored(t))
			require.Equal(t, 2, b.proxy.Injected()["NoRows"])
		})
	}
}

func TestNoRowsHidesRowsInABatch(t *testing.T) {
	t.Parallel()
	for _, m := range queryModes {
		t.Run(m.String(), func(t *testing.T) {
			t.Parallel()
			b := setup(t, mode(m))
			b.exec(t, "insert into "+b.table+" (id) values (1), (2)")
			b.proxy.SetRules(nothingTaken())
			_, tx := b.begin(t)
			for range 2 {
				batch := &pgx.Batch{}
				batch.Queue(b.take(), 0)
				batch.Queue("select count(*) from " + b.table)
				results := tx.SendBatch(b.ctx, batch)
				var id, count int64
				if m == pgx.QueryExecModeSimpleProtocol {
					// One query with two statements is one event: both return no rows.
					require.ErrorIs(t, results.QueryRow().Scan(&id), pgx.ErrNoRows)
					require.ErrorIs(t, results.QueryRow().Scan(&count), pgx.ErrNoRows)
				} else {
					require.ErrorIs(t, results.QueryRow().Scan(&id), pgx.ErrNoRows)
					require.NoError(t, results.QueryRow().Scan(&count))
					require.EqualValues(t, 2, count)
				}
				require.NoError(t, results.Close())
			}
			require.NoError(t, tx.Commit(b.ctx))
			require.Equal(t, []int64{1, 2}, b.stored(t))
		})
	}
}

func TestNoRowsIgnoresWritesOutsideATransaction(t *testing.T) {
	t.Parallel()
	for _, m := range queryModes {
		t.Run(m.String(), func(t *testing.T) {
			t.Parallel()
			b := setup(t, mode(m))
			b.exec(t, "insert into "+b.table+" (id) values (1), (2)")
			b.proxy.SetRules(nothingTaken())
			found, _ := ids(t, b, b.pool, "select id from "+b.table+" for update skip locked")
			require.Empty(t, found)
			found, _ = ids(t, b, b.pool, b.take(), 0)
			require.Equal(t, []int64{1}, found, "a deletion that cannot be taken back is not hidden either")
			require.Equal(t, []int64{2}, b.stored(t))
		})
	}
}

// The savepoint must not repair a transaction that its statement has broken.
func TestNoRowsKeepsErrorsAndAborts(t *testing.T) {
	t.Parallel()
	for _, m := range queryModes {
		t.Run(m.String(), func(t *testing.T) {
			t.Parallel()
			b := setup(t, mode(m))
			b.exec(t, "insert into "+b.table+" (id) values (0)")
			b.proxy.SetRules(nothingTaken())
			conn, tx := b.begin(t)
			_, err := tx.Exec(b.ctx, "select 1 / id from "+b.table+" for update skip locked")
			require.Equal(t, "22012", sqlState(err))
			require.Equal(t, byte('E'), conn.Conn().PgConn().TxStatus())
			_, err = tx.Exec(b.ctx, "select id from "+b.table+" where id = $1 for update skip locked", 0)
			require.Equal(t, "25P02", sqlState(err), "%v", err)
			require.NoError(t, tx.Rollback(b.ctx))
			require.NoError(t, conn.Ping(b.ctx))
		})
	}
}

func TestStripLocksRemovesRowLocks(t *testing.T) {
	t.Parallel()
	for _, m := range queryModes {
		t.Run(m.String(), func(t *testing.T) {
			t.Parallel()
			b := setup(t, mode(m))
			b.exec(t, "insert into "+b.table+" (id) values (1), (2)")
			b.proxy.SetRules(StripLocks())
			_, holder := b.begin(t)
			found, _ := ids(t, b, holder, "select id from "+b.table+" where id >= $1 for update", 0)
			require.Len(t, found, 2)
			// Nothing is locked: this would fail with 55P03.
			other, _ := ids(t, b, b.direct, "select id from "+b.table+" for update nowait")
			require.Len(t, other, 2)
		})
	}
}
