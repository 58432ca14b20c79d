package audit_test

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/audit"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// Autovacuum counts the rows of a table once a minute. Before the first count, the planner assumes that the table is empty.
func TestAuditAfterABulkLoadAnalyzesTables(t *testing.T) {
	t.Parallel()
	dbtest.OnPostgres(t) // on CockroachDB, a job of the database collects statistics
	dsn := dbtest.New(t)
	c := dbtest.Connect(t, dsn, nil)
	_, err := c.Exec(t.Context(), `ALTER TABLE free_blocks SET (autovacuum_enabled = off)`)
	require.NoError(t, err)
	_, err = c.Exec(t.Context(), `INSERT INTO free_blocks (region, container_id, host_bits, base)
SELECT $1, gen_random_uuid(), 8, '\x0a000000' FROM generate_series(1, 10000)`, "local")
	require.NoError(t, err)
	counted := func() (rows float64) {
		require.NoError(t, c.QueryRow(t.Context(), "SELECT reltuples::FLOAT8 FROM pg_class WHERE relname = 'free_blocks'").Scan(&rows))
		return rows
	}
	require.LessOrEqual(t, counted(), 0.0)
	_, err = audit.Run(t.Context(), dsn)
	require.NoError(t, err)
	require.InDelta(t, 10000, counted(), 0)
}

func TestAuditStatementsEndWhenTheCallerIsGone(t *testing.T) {
	t.Parallel()
	dbtest.OnPostgres(t) // CockroachDB does this itself
	dsn := dbtest.New(t)
	c := dbtest.Connect(t, dsn, nil)
	tx, err := c.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "LOCK TABLE holds IN ACCESS EXCLUSIVE MODE") // makes the audit wait
	require.NoError(t, err)
	way, cut := wire(t, dsn)
	audited := make(chan error, 1)
	go func() {
		_, err := audit.Run(t.Context(), way)
		audited <- err
	}()
	running := func(state string) func() bool {
		return func() bool {
			var n int
			require.NoError(t, tx.QueryRow(t.Context(), "SELECT pg_stat_clear_snapshot()::TEXT").Scan(new(string)))
			require.NoError(t, tx.QueryRow(t.Context(),
				"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'carve-audit' AND wait_event_type = 'Lock'").Scan(&n))
			return (n > 0) == (state == "waits")
		}
	}
	require.Eventually(t, running("waits"), time.Minute, 10*time.Millisecond)
	cut()
	require.Error(t, <-audited)
	require.Eventually(t, running("ended"), time.Minute, 10*time.Millisecond, "it would read the table for nobody")
	require.NoError(t, tx.Rollback(t.Context()))
}

// wire returns the URL of a proxy for the database. cut closes the proxy's connections without notice.
func wire(t *testing.T, dsn string) (through string, cut func()) {
	t.Helper()
	cfg, err := pgx.ParseConfig(dsn)
	require.NoError(t, err)
	network, address := pgconn.NetworkAddress(cfg.Host, cfg.Port)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var mu sync.Mutex
	ends := []io.Closer{listener}
	var passing sync.WaitGroup
	pass := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		_ = to.Close()
	}
	passing.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial(network, address)
			if err != nil {
				_ = client.Close()
				return
			}
			mu.Lock()
			ends = append(ends, client, server)
			mu.Unlock()
			passing.Go(func() { pass(server, client) })
			passing.Go(func() { pass(client, server) })
		}
	})
	cut = sync.OnceFunc(func() {
		mu.Lock()
		for _, end := range ends {
			_ = end.Close()
		}
		mu.Unlock()
		passing.Wait()
	})
	t.Cleanup(cut)
	u := url.URL{Scheme: "postgres", User: url.UserPassword(cfg.User, cfg.Password), Host: listener.Addr().String(), Path: "/" + cfg.Database, RawQuery: "sslmode=disable"}
	return fmt.Sprint(&u), cut
}
