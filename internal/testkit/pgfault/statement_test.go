package pgfault

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// queryModes are the exec modes of pgx: its default first, and the simple protocol last.
var queryModes = []pgx.QueryExecMode{
	pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec,
	pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
}

var statementFaults = []struct {
	name  string
	fault func() Fault
	code  string
	dead  bool
}{
	{"StatementSerializationFailure", StatementSerializationFailure, "40001", false},
	{"RangeUnavailable58C00", RangeUnavailable58C00, "58C00", false},
	{"SQLState 55P03", func() Fault { return SQLState("55P03") }, "55P03", false},
	{"Drain57P01", Drain57P01, "57P01", true},
	{"ConnectionLost", ConnectionLost, "", true},
	{"AnswerLost", AnswerLost, "", true},
}

func TestStatementFaultAbortsItsTransaction(t *testing.T) {
	t.Parallel()
	for _, m := range queryModes {
		for _, f := range statementFaults {
			t.Run(m.String()+"/"+f.name, func(t *testing.T) {
				t.Parallel()
				b := setup(t, mode(m))
				insert := func(id int64) error {
					conn, tx := b.begin(t)
					defer conn.Release()
					defer tx.Rollback(b.ctx)
					if _, err := tx.Exec(b.ctx, b.insert(), id); err != nil {
						return err
					}
					if _, err := tx.Exec(b.ctx, b.insert(), id+1); err != nil {
						if f.dead != conn.Conn().IsClosed() {
							t.Errorf("connection closed: %v", conn.Conn().IsClosed())
						}
						if !f.dead && conn.Conn().PgConn().TxStatus() != 'E' {
							t.Errorf("transaction status %q", conn.Conn().PgConn().TxStatus())
						}
						return err
					}
					return tx.Commit(b.ctx)
				}
				require.NoError(t, insert(10)) // the caches are warm now
				b.proxy.SetRules(Nth(2, OnlyTable(b.table, f.fault())))

				err := insert(20)

				require.Error(t, err)
				require.Equal(t, f.code, sqlState(err), "%v", err)
				require.Equal(t, []int64{10, 11}, b.stored(t))
				require.Equal(t, map[string]int{f.name: 1}, b.proxy.Injected())
				require.NoError(t, insert(20), "a fresh attempt succeeds, on this connection or another")
				require.Equal(t, []int64{10, 11, 20, 21}, b.stored(t))
			})
		}
	}
}

// A statement outside a transaction, or a batch between two Syncs, commits by itself.
func TestStatementFaultOutsideATransaction(t *testing.T) {
	t.Parallel()
	for _, m := range queryModes {
		for _, f := range statementFaults {
			t.Run(m.String()+"/"+f.name, func(t *testing.T) {
				t.Parallel()
				b := setup(t, mode(m))
				insert := func(id int64) error {
					batch := &pgx.Batch{}
					batch.Queue(b.insert(), id)
					batch.Queue("insert into "+b.table+" (id, note) values ($1, 'second')", id+1)
					return b.pool.SendBatch(b.ctx, batch).Close()
				}
				require.NoError(t, insert(10))
				b.proxy.SetRules(Once(OnlySQL("'second'", f.fault())))

				err := insert(20)

				require.Equal(t, f.code, sqlState(err), "%v", err)
				want := []int64{10, 11}
				if f.name == "AnswerLost" {
					want = append(want, 20, 21)
				}
				require.Equal(t, want, b.stored(t), "all or nothing")
				require.NoError(t, insert(30))
			})
		}
	}
}

func TestBeginFaultIsInjected(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.proxy.SetRules(Once(On(Begin, SQLState("58C01"))))
	_, err := b.pool.Begin(b.ctx)
	require.Equal(t, "58C01", sqlState(err), "%v", err)
	tx, err := b.pool.Begin(b.ctx)
	require.NoError(t, err)
	require.NoError(t, tx.Rollback(b.ctx))
}

func TestConnectRefusalIsInjected(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.proxy.SetRules(First(2, ConnectRefused("53300")))
	for range 2 {
		require.Equal(t, "53300", sqlState(b.pool.Ping(b.ctx)))
	}
	require.NoError(t, b.pool.Ping(b.ctx))
	require.Equal(t, 2, b.proxy.Injected()["ConnectRefused 53300"])
}

// After an injected error, the rest of a pipeline is skipped, as by a server. The client gets the earlier responses.
func TestPipelineStopsExactlyAtTheInjectedError(t *testing.T) {
	t.Parallel()
	for _, m := range queryModes[:4] {
		t.Run(m.String(), func(t *testing.T) {
			t.Parallel()
			b := setup(t, mode(m))
			b.proxy.SetRules(OnlySQL("'second'", StatementSerializationFailure()))
			_, tx := b.begin(t)
			batch := &pgx.Batch{}
			batch.Queue("select 'first'")
			batch.Queue("select 'second'")
			batch.Queue("select 'third'")
			results := tx.SendBatch(b.ctx, batch)
			var first string
			require.NoError(t, results.QueryRow().Scan(&first))
			require.Equal(t, "first", first)
			_, err := results.Exec()
			require.Equal(t, "40001", sqlState(err))
			_, err = results.Exec()
			require.Error(t, err)
			require.Error(t, results.Close())
			require.NoError(t, tx.Rollback(b.ctx))
			require.NoError(t, b.pool.Ping(b.ctx))
		})
	}
}

// After an error of its own, the server skips the rest of a pipeline. A fault in that rest is not injected, and the next pipeline is handled from its
// beginning.
func TestFaultAfterARealErrorIsSkipped(t *testing.T) {
	t.Parallel()
	for _, f := range commitFaults {
		if f.name == "LostBeforeCommit" || f.name == "ConnectionLost" || f.name == "Drain57P01" {
			continue // injected when the proxy sees COMMIT, even if the server skips it
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			require.NoError(t, ways[3].commit(b.ctx, b.pool, b.insert(), "commit", 1))
			b.proxy.SetRules(Once(f.fault()))
			err := ways[3].commit(b.ctx, b.pool, b.insert(), "commit", 1)
			require.Equal(t, "23505", sqlState(err), "%v", err)
			require.Empty(t, b.proxy.Injected())
			b.pool.Reset()
			require.NoError(t, ways[3].commit(b.ctx, b.pool, b.insert(), "commit", 2))
			require.Equal(t, []int64{1, 2}, b.stored(t))
		})
	}
}

// Without a rule, the proxy neither adds nor loses messages in long pipelines whose requests and responses overlap.
func TestLongPipelinesPass(t *testing.T) {
	t.Parallel()
	for _, m := range queryModes {
		t.Run(m.String(), func(t *testing.T) {
			t.Parallel()
			b := setup(t, mode(m))
			roundTrip(t, b, b.pool)
		})
	}
}

func roundTrip(t *testing.T, b *bench, pool *pgxpool.Pool) {
	t.Helper()
	const n = 3000
	batch := &pgx.Batch{}
	sum := 0
	for i := range n {
		batch.Queue("select $1::int8, repeat('x', 500)", i).QueryRow(func(row pgx.Row) error {
			var id int
			var pad string
			if err := row.Scan(&id, &pad); err != nil {
				return err
			}
			sum += id
			return nil
		})
	}
	require.NoError(t, pool.SendBatch(b.ctx, batch).Close())
	require.Equal(t, n*(n-1)/2, sum)
}
