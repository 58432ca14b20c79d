package dbtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/devdb"
)

// OnPostgres skips a test on CockroachDB, because it tests plans, the proxy or the commit protocol of PostgreSQL.
func OnPostgres(t testing.TB) {
	t.Helper()
	if Engine() != devdb.Postgres {
		t.Skip("about PostgreSQL; this run is on", Engine())
	}
}

// Empty makes a second database for the test, without a schema, and returns its DSN.
func Empty(t testing.TB) string {
	t.Helper()
	dsn := New(t)
	admin := Connect(t, dsn, nil)
	name := "carve_test_empty_" + strings.ToLower(rand.Text())
	_, err := admin.Exec(t.Context(), "CREATE DATABASE "+name)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := admin.Exec(context.Background(), "DROP DATABASE "+name)
		require.NoError(t, err, "a migration must close its connections")
	})
	u, err := url.Parse(dsn)
	require.NoError(t, err)
	u.Path = "/" + name
	return u.String()
}

// Cluster makes an empty database on a cluster with several regions. dsns has a DSN for each region, through a node in that region. regions has the
// regions in the order of CRDB_URLS.
func Cluster(t testing.TB) (regions []string, dsns map[string]string) {
	t.Helper()
	if os.Getenv(EnvURLs) == "" {
		t.Skip("about a CockroachDB cluster of several regions: make test-crdb-cluster")
	}
	name := "carve_test_cluster_" + strings.ToLower(rand.Text())
	dsns = map[string]string{}
	var admin *pgx.Conn
	for one := range strings.SplitSeq(os.Getenv(EnvURLs), ",") {
		region, address, found := strings.Cut(one, "=")
		require.True(t, found, "%s is region=URL,region=URL", EnvURLs)
		if admin == nil {
			admin = Connect(t, address, nil)
		}
		u, err := url.Parse(address)
		require.NoError(t, err)
		u.Path = "/" + name
		regions, dsns[region] = append(regions, region), u.String()
	}
	_, err := admin.Exec(t.Context(), "CREATE DATABASE "+name)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := admin.Exec(context.Background(), "DROP DATABASE "+name+" CASCADE")
		require.NoError(t, err)
	})
	return regions, dsns
}

// Gateway returns the DSN of a database through a node in the region. If the cluster lists no node for the region, it returns dsn.
func Gateway(t testing.TB, dsn, region string) string {
	t.Helper()
	for one := range strings.SplitSeq(os.Getenv(EnvURLs), ",") {
		in, address, _ := strings.Cut(one, "=")
		if in != region {
			continue
		}
		u, err := url.Parse(dsn)
		require.NoError(t, err)
		node, err := url.Parse(address)
		require.NoError(t, err)
		u.Host = node.Host
		return u.String()
	}
	return dsn
}

// Connect opens a session without the store, with the given settings.
func Connect(t testing.TB, dsn string, settings map[string]string) *pgx.Conn {
	t.Helper()
	cfg, err := pgx.ParseConfig(dsn)
	require.NoError(t, err)
	maps.Copy(cfg.RuntimeParams, settings)
	c, err := pgx.ConnectConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// Dump returns every row of every table of the database, by table. The order of the rows depends only on their values.
func Dump(t testing.TB, c *pgx.Conn) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, table := range Tables(t, c) {
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

// Tables returns the names of the database's tables.
func Tables(t testing.TB, c *pgx.Conn) []string {
	t.Helper()
	rows, err := c.Query(t.Context(), "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY table_name")
	require.NoError(t, err)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return names
}
