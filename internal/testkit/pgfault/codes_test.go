package pgfault

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// CockroachDB returns these codes, and PostgreSQL seldom or never does. The proxy injects them for statements on one table, and no others.
func TestErrorCodesAreInjectedByTable(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"58C00", "53300", "55P03", "57014", "XXUUU"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			other := b.table + "_other"
			b.exec(t, "create table "+other+" (id int8 primary key)")
			b.proxy.SetRules(OnlyTable(b.table, On(Statement, SQLState(code))))
			_, err := b.pool.Exec(b.ctx, "insert into "+other+" (id) values (1)")
			require.NoError(t, err)
			err = pgx.BeginFunc(b.ctx, b.pool, func(tx pgx.Tx) error {
				if _, err := tx.Exec(b.ctx, "insert into "+other+" (id) values (2)"); err != nil {
					return err
				}
				_, err := tx.Exec(b.ctx, b.insert(), 1)
				return err
			})
			require.Equal(t, code, sqlState(err))
			require.Empty(t, b.stored(t))
			var n int
			require.NoError(t, b.direct.QueryRow(b.ctx, "select count(*) from "+other).Scan(&n))
			require.Equal(t, 1, n, "the whole transaction is gone")
			require.Equal(t, 1, b.proxy.Injected()["SQLState "+code])
		})
	}
}

func TestErrorCodesAreInjectedByProbability(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.proxy.SetRules(Probability(0.5, 7, On(Statement, SQLState("55P03"))))
	refused := 0
	for i := range 60 {
		switch _, err := b.pool.Exec(b.ctx, b.insert(), i); sqlState(err) {
		case "55P03":
			refused++
		case "":
			require.NoError(t, err)
		default:
			require.NoError(t, err)
		}
	}
	require.Equal(t, refused, b.proxy.Injected()["SQLState 55P03"])
	require.Len(t, b.stored(t), 60-refused)
	require.Positive(t, refused)
	require.Less(t, refused, 60)
}

// The error at COMMIT does not reveal the outcome. Here the COMMIT has taken effect.
func TestErrorAfterCommitHidesTheOutcome(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"57014", "58C00", "53200", "XXUUU"} {
		for _, w := range ways {
			t.Run(code+"/"+w.name, func(t *testing.T) {
				t.Parallel()
				b := setup(t, mode(w.mode))
				b.proxy.SetRules(CommittedThenError(code))
				require.Equal(t, code, sqlState(w.commit(b.ctx, b.pool, b.insert(), "commit", 1)))
				require.Equal(t, []int64{1}, b.stored(t))
				require.Equal(t, 1, b.proxy.Injected()["CommittedThenError "+code])
			})
		}
	}
}

func TestSeverCutsOpenConnectionsAndServesNewOnes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	conn, tx := b.begin(t)
	_, err := tx.Exec(b.ctx, b.insert(), 1)
	require.NoError(t, err)
	open := b.proxy.live()
	b.proxy.Sever()
	for _, s := range open {
		require.NoError(t, b.proxy.AwaitEnd(b.ctx, s.conn))
	}
	require.Error(t, tx.Commit(b.ctx))
	require.True(t, conn.Conn().IsClosed())
	require.Empty(t, b.stored(t), "rolled back")
	_, err = b.pool.Exec(b.ctx, b.insert(), 2)
	require.NoError(t, err)
	require.Equal(t, []int64{2}, b.stored(t))
}
