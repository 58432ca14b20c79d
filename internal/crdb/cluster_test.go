package crdb_test

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// clusterDatabase is an empty database on a cluster of several regions, as each of its gateways is told of it. The regions are in the order of the variable.
func clusterDatabase(t *testing.T) (regions []string, at map[string]string) {
	t.Helper()
	if os.Getenv(dbtest.EnvURLs) == "" {
		t.Skip("about a CockroachDB cluster of several regions: make test-crdb-cluster")
	}
	name := "carve_test_cluster_" + strings.ToLower(rand.Text())
	at = map[string]string{}
	var admin *pgx.Conn
	for one := range strings.SplitSeq(os.Getenv(dbtest.EnvURLs), ",") {
		region, address, found := strings.Cut(one, "=")
		require.True(t, found, "%s is region=URL,region=URL", dbtest.EnvURLs)
		if admin == nil {
			admin = connect(t, address, nil)
		}
		u, err := url.Parse(address)
		require.NoError(t, err)
		u.Path = "/" + name
		regions, at[region] = append(regions, region), u.String()
	}
	_, err := admin.Exec(t.Context(), "CREATE DATABASE "+name)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := admin.Exec(context.Background(), "DROP DATABASE "+name+" CASCADE")
		require.NoError(t, err)
	})
	return regions, at
}

// migrateEverywhere migrates from every gateway at once.
func migrateEverywhere(t *testing.T, at map[string]string, o crdb.MigrateOptions) {
	t.Helper()
	var wg sync.WaitGroup
	errs := make(chan error, len(at))
	for _, dsn := range at {
		wg.Go(func() { errs <- crdb.Migrate(t.Context(), dsn, o) })
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
}

// shown is where the cluster says that the tables are.
func shown(t *testing.T, c *pgx.Conn) map[string]crdb.Locality {
	t.Helper()
	rows, err := c.Query(t.Context(), "SELECT table_name, locality FROM [SHOW TABLES] WHERE schema_name = 'public'")
	require.NoError(t, err)
	found := map[string]crdb.Locality{}
	var table, locality string
	_, err = pgx.ForEachRow(rows, []any{&table, &locality}, func() error {
		found[table] = crdb.Locality(locality)
		return nil
	})
	require.NoError(t, err)
	return found
}

// One region first, then all: what grows on a real cluster is what the scripted one was told.
func TestAClusterGrowsFromOneRegionToAll(t *testing.T) {
	t.Parallel()
	regions, at := clusterDatabase(t)
	migrateEverywhere(t, at, options(regions[0]))
	c := connect(t, at[regions[0]], nil)
	for table, locality := range shown(t, c) {
		require.NotEqual(t, crdb.Global, locality, table)
	}
	o := options(regions...)
	if len(regions) >= 3 {
		o.Survive = crdb.SurviveRegion
	}
	for range 2 {
		migrateEverywhere(t, at, o)
	}
	want := map[string]crdb.Locality{}
	for _, l := range crdb.Localities() {
		want[l.Table] = l.Locality
	}
	require.Equal(t, want, shown(t, c))
	rows, _ := written(t, at[regions[0]])
	require.Len(t, rows, len(regions))

	backwards := slices.Clone(regions)
	slices.Reverse(backwards)
	require.ErrorIs(t, crdb.Migrate(t.Context(), at[regions[0]], options(backwards...)), crdb.ErrRegion)
	require.ErrorIs(t, crdb.Migrate(t.Context(), at[regions[0]], options(append(slices.Clone(regions), "nowhere")...)), crdb.ErrRegion)
	for _, here := range regions {
		for _, there := range regions {
			err := crdb.CheckRegion(t.Context(), at[here], there)
			if here == there {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, crdb.ErrRegion, "a server of %s through a node in %s", there, here)
			}
		}
	}
}

// A server in each region makes a pool and claims from it, through the node of its region.
func TestEachRegionOfAClusterClaims(t *testing.T) {
	t.Parallel()
	regions, at := clusterDatabase(t)
	require.NoError(t, crdb.Migrate(t.Context(), at[regions[0]], options(regions...)))
	for i, r := range regions {
		store := open(t, at[r], func(o *crdb.Options) { o.Region = r })
		svc := alloc.New(store, alloc.Options{Region: r})
		require.NoError(t, svc.EnsurePlatform(admin(t)))
		pool, err := svc.CreatePool(admin(t), project, rootPool("pool-"+r, "10."+string(rune('1'+i))+".0.0/16"), usecase.Request{})
		require.NoError(t, err)
		for range 20 {
			c := claimOf("", project, pool.Value.Name, 28)
			c.GeneratedFrom = "c-"
			_, err := svc.CreateClaim(admin(t), project, c, usecase.Request{})
			require.NoError(t, err)
		}
	}
	clean(t, at[regions[0]])
}
