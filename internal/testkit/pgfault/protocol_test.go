package pgfault

import (
	"context"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

func TestEveryPasswordMethodPasses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, user := range []string{"scram", "md5", "plain"} {
		t.Run(user, func(t *testing.T) {
			t.Parallel()
			dsn := func(password string) string {
				return strings.Replace(b.proxy.DSN(), "postgres@", user+":"+password+"@", 1)
			}
			conn, err := pgx.Connect(b.ctx, dsn("secret"))
			require.NoError(t, err)
			require.NoError(t, conn.Close(b.ctx))
			_, err = pgx.Connect(b.ctx, dsn("wrong"))
			require.Equal(t, "28P01", sqlState(err), "%v", err)
		})
	}
}

// A proxy connects to a second proxy, so its upstream is TCP, with a password and settings that it must pass on.
func TestDSNKeepsUserPasswordDatabaseAndSettings(t *testing.T) {
	t.Parallel()
	b := setup(t)
	dsn := strings.Replace(b.proxy.DSN(), "postgres@", "scram:secret@", 1) + "&application_name=a%20%26b+c&search_path=x"
	outer, err := Start(b.ctx, dsn)
	require.NoError(t, err)
	t.Cleanup(outer.Close)
	conn, err := pgx.Connect(b.ctx, outer.DSN())
	require.NoError(t, err)
	defer conn.Close(b.ctx)
	var got []string
	require.NoError(t, conn.QueryRow(b.ctx, `select array[current_user::text, current_database()::text,
		current_setting('application_name'), current_setting('search_path'), current_setting('transaction_isolation')]`).Scan(&got))
	require.Equal(t, []string{"scram", "postgres", "a &b+c", "x", "serializable"}, got)
}

func TestTLSIsDeclinedToTheClientAndRefusedToTheServer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	prefer := strings.Replace(b.proxy.DSN(), "sslmode=disable", "sslmode=prefer", 1)
	conn, err := pgx.Connect(b.ctx, prefer)
	require.NoError(t, err)
	require.NoError(t, conn.Close(b.ctx))
	through, err := Start(b.ctx, prefer)
	require.NoError(t, err)
	through.Close()
	_, err = Start(b.ctx, strings.Replace(prefer, "prefer", "require", 1))
	require.ErrorContains(t, err, "TLS")
	_, err = Start(b.ctx, "port=none")
	require.ErrorContains(t, err, "upstream")
}

func TestGSSEncryptionIsDeclined(t *testing.T) {
	t.Parallel()
	b := setup(t)
	conn, err := new(net.Dialer).DialContext(b.ctx, "tcp", b.proxy.listener.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	request, err := (&pgproto3.GSSEncRequest{}).Encode(nil)
	require.NoError(t, err)
	_, err = conn.Write(request)
	require.NoError(t, err)
	answer := make([]byte, 1)
	_, err = conn.Read(answer)
	require.NoError(t, err)
	require.Equal(t, "N", string(answer))
}

func TestCancelReachesTheServer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	running := make(chan Event, 1)
	b.proxy.SetRules(Fault(func(e Event) Action {
		if strings.Contains(e.SQL, "pg_sleep") {
			running <- e
		}
		return Action{}
	}))
	conn, err := b.pool.Acquire(b.ctx)
	require.NoError(t, err)
	defer conn.Release()
	result := make(chan error, 1)
	go func() {
		_, err := conn.Exec(b.ctx, "select pg_sleep(3600)")
		result <- err
	}()
	at := <-running
	b.awaitActive(t, conn.Conn().PgConn().PID())
	require.NoError(t, conn.Conn().PgConn().CancelRequest(b.ctx))
	require.Equal(t, "57014", sqlState(<-result))
	require.NoError(t, b.proxy.AwaitCancel(b.ctx, at.Conn))
	require.Error(t, b.proxy.AwaitCancel(b.ctx, at.Conn+100), "of a connection there never was")
}

// awaitActive polls the server until a backend sleeps, because a cancel request before its query has no effect.
func (b *bench) awaitActive(t *testing.T, pid uint32) {
	t.Helper()
	for asleep := false; !asleep; {
		require.NoError(t, b.direct.QueryRow(b.ctx,
			"select coalesce(wait_event = 'PgSleep', false) from pg_stat_activity where pid = $1", pid).Scan(&asleep))
	}
}

func TestCopyPassesAndCanFail(t *testing.T) {
	t.Parallel()
	b := setup(t)
	load := func(from int64) error {
		_, err := b.pool.CopyFrom(b.ctx, pgx.Identifier{b.table}, []string{"id"},
			pgx.CopyFromSlice(1000, func(i int) ([]any, error) { return []any{from + int64(i)}, nil }))
		return err
	}
	require.NoError(t, load(0))
	require.Len(t, b.stored(t), 1000)
	b.proxy.SetRules(Nth(1, OnlySQL("copy", SQLState("58C00"))), Nth(1, OnlySQL("copy", AnswerLost())))
	require.Equal(t, "58C00", sqlState(load(1000)))
	require.Len(t, b.stored(t), 1000)
	require.Error(t, load(1000))
	require.Len(t, b.stored(t), 2000, "stored, and the answer lost")
}

func TestUnreachableServerIsReported(t *testing.T) {
	t.Parallel()
	p, err := Start(t.Context(), "host=/nonexistent user=u dbname=d")
	require.NoError(t, err)
	t.Cleanup(p.Close)
	_, err = pgx.Connect(t.Context(), p.DSN())
	require.Equal(t, "08001", sqlState(err), "%v", err)
}

func TestProxyEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	p, err := Start(ctx, clusterDSN)
	require.NoError(t, err)
	pool, err := pgxpool.New(t.Context(), p.DSN())
	require.NoError(t, err)
	defer pool.Close()
	require.NoError(t, pool.Ping(t.Context()))
	cancel()
	p.Close()
	require.Error(t, pool.Ping(t.Context()))
	p.Close()
}

func TestEventDescribesStatementAndConnection(t *testing.T) {
	t.Parallel()
	for _, m := range queryModes {
		t.Run(m.String(), func(t *testing.T) {
			t.Parallel()
			b := setup(t, mode(m))
			var events []Event
			b.proxy.SetRules(Fault(func(e Event) Action {
				if e.Executes() {
					events = append(events, e)
				}
				return Action{}
			}))
			insert := "-- name: NoteInsert\nINSERT INTO " + b.table + " (id)\n\tVALUES ($1);"
			conn, tx := b.begin(t)
			_, err := tx.Exec(b.ctx, insert, 1)
			require.NoError(t, err)
			_, err = tx.Exec(b.ctx, insert, 2)
			require.NoError(t, err)
			require.NoError(t, tx.Commit(b.ctx))
			_, err = conn.Exec(b.ctx, insert, 3)
			require.NoError(t, err)
			conn.Release()
			b.pool.Close()
			require.NoError(t, b.proxy.AwaitIdle(b.ctx))

			var kinds []Kind
			var inTx []bool
			for _, e := range events {
				kinds, inTx = append(kinds, e.Kind), append(inTx, e.InTx)
			}
			require.Equal(t, []Kind{Begin, Statement, Statement, Commit, Statement}, kinds)
			require.Equal(t, []bool{false, true, true, true, false}, inTx)
			second := events[2]
			require.Equal(t, m != pgx.QueryExecModeSimpleProtocol, second.Extended)
			require.Equal(t, []string{b.table}, second.Tables)
			require.True(t, second.Writes)
			if second.Extended {
				require.Equal(t, insert, second.Text, "known though only its name was sent")
				require.Equal(t, "insert into "+b.table+" (id) values ($1)", second.SQL)
			}
		})
	}
}
