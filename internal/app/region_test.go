package app

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/devdb"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/pgfault"
)

// A server with the wrong region would look for names and keys in the wrong partition, so it must not start. In this test, the gateway is a
// PostgreSQL database that responds like a CockroachDB node in the region "east".
func TestServerStartsOnlyInItsRegion(t *testing.T) {
	t.Parallel()
	if dbtest.Engine() != devdb.Postgres {
		t.Skip("about what PostgreSQL cannot know, and plays; this run is on", dbtest.Engine())
	}
	dsn := dbtest.New(t)
	require.NoError(t, schema.Migrate(t.Context(), dsn, schema.MigrateOptions{Regions: []string{"local", "east"}}))
	proxy, err := pgfault.Start(t.Context(), dsn, pgfault.RewriteSQL(func(sql string) string {
		return strings.NewReplacer("SELECT version()", "SELECT 'CockroachDB CCL v25.4.1'", "SELECT gateway_region()", "SELECT 'east'").Replace(sql)
	}))
	require.NoError(t, err)
	t.Cleanup(proxy.Close)
	for name, c := range map[string]struct{ dsn, region, says string }{
		"UnknownRegion":   {dsn, "mars", `the database has "local", "east", and --region is "mars"`},
		"AnothersGateway": {proxy.DSN(), "local", `reached through a node in the region "east", and --region is "local"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config, _, err := ParseConfig([]string{"--listen=127.0.0.1:0", "--auth=dev", "--database-url=" + c.dsn, "--region=" + c.region}, nil)
			require.NoError(t, err)
			a, err := Start(t.Context(), config, io.Discard)
			require.Nil(t, a)
			require.ErrorIs(t, err, schema.ErrRegion)
			require.ErrorContains(t, err, c.says)
		})
	}
	for name, c := range map[string]struct{ dsn, region string }{"Known": {dsn, "east"}, "ItsGateway": {proxy.DSN(), "east"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, schema.CheckRegion(t.Context(), c.dsn, c.region))
		})
	}
}
