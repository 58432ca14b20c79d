package pgfault

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// bench is the environment of each test: its own table, a proxy, a pool through the proxy, and a direct pool that shows the
// stored rows.
type bench struct {
	ctx    context.Context
	table  string // (id int8 primary key, note text)
	proxy  *Proxy
	pool   *pgxpool.Pool
	direct *pgxpool.Pool
}

var tablesSoFar atomic.Int64

// setup starts a proxy without rules. Tests set the rules after the creation of their table.
func setup(t *testing.T, options ...func(*pgxpool.Config)) *bench {
	t.Helper()
	// Ends a test that hangs; every other test is much faster.
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	b := &bench{ctx: ctx, table: fmt.Sprintf("blocks_%d", tablesSoFar.Add(1))}
	proxy, err := Start(context.Background(), clusterDSN)
	require.NoError(t, err)
	t.Cleanup(proxy.Close)
	b.proxy = proxy
	b.direct = connect(t, clusterDSN)
	b.pool = connect(t, proxy.DSN(), options...)
	b.exec(t, fmt.Sprintf("create table %s (id int8 primary key, note text not null default '')", b.table))
	return b
}

func connect(t *testing.T, dsn string, options ...func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(dsn)
	require.NoError(t, err)
	config.MaxConns = 4
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false } // a ping after a second of idling would add a statement
	for _, option := range options {
		option(config)
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

func mode(m pgx.QueryExecMode) func(*pgxpool.Config) {
	return func(c *pgxpool.Config) { c.ConnConfig.DefaultQueryExecMode = m }
}

// exec runs a statement without the proxy.
func (b *bench) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	_, err := b.direct.Exec(b.ctx, sql, args...)
	require.NoError(t, err)
}

// stored returns the ids in the table.
func (b *bench) stored(t *testing.T) []int64 {
	t.Helper()
	rows, err := b.direct.Query(b.ctx, "select id from "+b.table+" order by id")
	require.NoError(t, err)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	require.NoError(t, err)
	return ids
}

func (b *bench) insert() string { return "insert into " + b.table + " (id) values ($1)" }

// begin opens a transaction through the proxy on a connection of its own.
func (b *bench) begin(t *testing.T) (*pgxpool.Conn, pgx.Tx) {
	t.Helper()
	conn, err := b.pool.Acquire(b.ctx)
	require.NoError(t, err)
	t.Cleanup(conn.Release)
	tx, err := conn.BeginTx(b.ctx, pgx.TxOptions{IsoLevel: pgx.Serializable})
	require.NoError(t, err)
	return conn, tx
}

// sqlState returns the SQLSTATE from the server or the proxy, "" for another error.
func sqlState(err error) string {
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		return answer.Code
	}
	return ""
}
