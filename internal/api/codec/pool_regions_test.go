package codec

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func TestPoolRegionsStatus(t *testing.T) {
	t.Parallel()
	p := servedPool()
	lent := p.Regional[0].LoanedAt

	t.Run("ShowsLoansAndTheRestAtHome", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, []gen.PoolInRegion{
			{
				Region: "us", Capacity: gen.RegionCapacity{Total: "12288", Available: "4096", CoolingDown: "32"}, Loans: 2,
				LastLoanPrefixLength: new(19), LastLoanAt: &lent, Runway: "3h",
			},
			{Region: "eu", Home: true, Capacity: gen.RegionCapacity{Total: "1036288", Available: "524288", CoolingDown: "1"}},
			{Region: "ap", Capacity: gen.RegionCapacity{Total: "0", Available: "0", CoolingDown: "0"}},
		}, poolRegionsOf(p, lent.Add(time.Minute)))
	})
	t.Run("LimitsTheRunwayToAYear", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, "8760h", poolRegionsOf(p, lent.Add(5*ipam.MaxDuration))[0].Runway)
	})
	t.Run("HasNoRunwayAfterOneLoan", func(t *testing.T) {
		t.Parallel()
		p := servedPool()
		p.Regional[0].Lasted = 0
		require.Empty(t, poolRegionsOf(p, lent)[0].Runway)
	})
	t.Run("IsAbsentForASingleRegionPool", func(t *testing.T) {
		t.Parallel()
		require.Nil(t, poolStatusOf(rootPool(), time.Now()).Regions)
		require.Len(t, poolStatusOf(p, time.Now()).Regions, 3)
	})
}
