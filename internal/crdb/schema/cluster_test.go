package schema_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// migrateEverywhere migrates through every gateway at the same time.
func migrateEverywhere(t *testing.T, at map[string]string, o schema.MigrateOptions) {
	t.Helper()
	var wg sync.WaitGroup
	errs := make(chan error, len(at))
	for _, dsn := range at {
		wg.Go(func() { errs <- schema.Migrate(t.Context(), dsn, o) })
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
}

// shown returns the localities that the cluster reports.
func shown(t *testing.T, c *pgx.Conn) map[string]schema.Locality {
	t.Helper()
	rows, err := c.Query(t.Context(), "SELECT table_name, locality FROM [SHOW TABLES] WHERE schema_name = 'public' AND type = 'table'")
	require.NoError(t, err)
	found := map[string]schema.Locality{}
	var table, locality string
	_, err = pgx.ForEachRow(rows, []any{&table, &locality}, func() error {
		found[table] = schema.Locality(locality)
		return nil
	})
	require.NoError(t, err)
	return found
}

// The database first has one region and then gets all others. The test runs on a real cluster, which must accept the same statements as the scripted
// cluster.
func TestClusterGrowsFromOneRegionToAll(t *testing.T) {
	t.Parallel()
	regions, at := dbtest.Cluster(t)
	migrateEverywhere(t, at, options(regions[0]))
	c := dbtest.Connect(t, at[regions[0]], nil)
	for table, locality := range shown(t, c) {
		require.NotEqual(t, schema.Global, locality, table)
	}
	o := options(regions...)
	if len(regions) >= 3 {
		o.Survive = schema.SurviveRegion
	}
	for range 2 {
		migrateEverywhere(t, at, o)
	}
	want := map[string]schema.Locality{}
	for _, l := range schema.Tables() {
		want[l.Name] = l.Locality
	}
	require.Equal(t, want, shown(t, c))
	rows, _ := written(t, at[regions[0]])
	require.Len(t, rows, len(regions))

	backwards := slices.Clone(regions)
	slices.Reverse(backwards)
	require.ErrorIs(t, schema.Migrate(t.Context(), at[regions[0]], options(backwards...)), schema.ErrRegion)
	require.ErrorIs(t, schema.Migrate(t.Context(), at[regions[0]], options(append(slices.Clone(regions), "nowhere")...)), schema.ErrRegion)
	for _, here := range regions {
		for _, there := range regions {
			err := schema.CheckRegion(t.Context(), at[here], there)
			if here == there {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, schema.ErrRegion, "a server of %s through a node in %s", there, here)
			}
		}
	}
}
