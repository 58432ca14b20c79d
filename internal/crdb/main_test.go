package crdb_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/devdb"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// region is where all rows of the tests live: the locality that dbtest gives a CockroachDB of its own.
const region = "local"

func TestMain(m *testing.M) {
	dbtest.Main(m, dbtest.Config{Migrate: func(ctx context.Context, dsn string) error {
		o := crdb.MigrateOptions{Regions: []string{region}}
		if dbtest.Engine() == devdb.Postgres {
			o.Roles = crdb.RoleOptions{Mode: crdb.RolesRequire, Prefix: rolesOfTests}
		}
		return crdb.Migrate(ctx, dsn, o)
	}})
}

// onPostgres is for tests of what only PostgreSQL has: its plans, its proxy, its own way to commit.
func onPostgres(t testing.TB) {
	t.Helper()
	if dbtest.Engine() != devdb.Postgres {
		t.Skip("about PostgreSQL; this run is on", dbtest.Engine())
	}
}

// open opens a store on the database and closes it with the test.
func open(t testing.TB, dsn string, options ...func(*crdb.Options)) *crdb.Store {
	t.Helper()
	o := crdb.Options{Region: region}
	for _, option := range options {
		option(&o)
	}
	s, err := crdb.Open(t.Context(), dsn, o)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// connect opens a session past the store, with settings that differ from the server's.
func connect(t testing.TB, dsn string, settings map[string]string) *pgx.Conn {
	t.Helper()
	cfg, err := pgx.ParseConfig(dsn)
	require.NoError(t, err)
	maps.Copy(cfg.RuntimeParams, settings)
	c, err := pgx.ConnectConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// dump is every row of every table of the database, by table, in an order that depends on the rows alone.
func dump(t testing.TB, c *pgx.Conn) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, table := range tables(t, c) {
		rows, err := c.Query(t.Context(), "SELECT * FROM "+pgx.Identifier{table}.Sanitize())
		require.NoError(t, err)
		out[table], err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
			values, err := row.Values()
			return fmt.Sprintf("%v", values), err
		})
		require.NoError(t, err)
		slices.Sort(out[table])
	}
	return out
}

func tables(t testing.TB, c *pgx.Conn) []string {
	t.Helper()
	rows, err := c.Query(t.Context(), "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY table_name")
	require.NoError(t, err)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return names
}
