package crdb_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// In each region, a server creates a pool and claims from it. The server connects to a node of its region.
func TestEachRegionOfAClusterServesClaims(t *testing.T) {
	t.Parallel()
	regions, at := dbtest.Cluster(t)
	require.NoError(t, schema.Migrate(t.Context(), at[regions[0]], schema.MigrateOptions{Regions: regions}))
	for i, r := range regions {
		store := open(t, at[r], func(o *crdb.Options) { o.Region = r })
		svc := alloc.New(store, alloc.Options{Region: r})
		require.NoError(t, svc.EnsurePlatform(admin(t)))
		pool, err := svc.CreatePool(admin(t), project, rootPool("pool-"+r, "10."+string(rune('1'+i))+".0.0/16"), usecase.Request{})
		require.NoError(t, err)
		for range 20 {
			c := claimOf(ipam.GenerateName("c-", 0, ipam.NewID()), project, pool.Value.Name, 28)
			c.GeneratedFrom = "c-"
			_, err := svc.CreateClaim(admin(t), project, c, usecase.Request{})
			require.NoError(t, err)
		}
	}
	clean(t, at[regions[0]])
}
