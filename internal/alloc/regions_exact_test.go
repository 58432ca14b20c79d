package alloc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// by creates a claim through the server of a region.
func (w *world) by(r string, c ipam.Claim) (ipam.Claim, error) {
	got, err := w.in[r].CreateClaim(w.ctx, project, c, usecase.Request{})
	return got.Value, err
}

// A server in any region can claim an exact CIDR, and the CIDR may be free in any region. If its parts are free in several regions, the server
// gathers them.
func TestExactCIDRIsClaimedInAnyRegion(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.served(t, "net", "10.0.0.0/24")
	made, err := w.by(eu, claim("first", "net", 32)) // the home lends 10.0.0.0/26 to eu
	require.NoError(t, err)
	require.Equal(t, "10.0.0.0/32", made.Block.String())

	for _, c := range []struct {
		title, by, name, cidr, in string
	}{
		{"InTheRegionAsked", eu, "a", "10.0.0.16/28", eu},
		{"InAnotherRegion", us, "b", "10.0.0.32/28", eu},
		{"AtHome", us, "c", "10.0.0.128/26", region},
		{"AtHomeByTheHome", region, "d", "10.0.0.64/27", region},
	} {
		t.Run(c.title, func(t *testing.T) {
			made, err := w.by(c.by, claimOf(c.name, "net", exactly(c.cidr)))
			require.NoError(t, err)
			require.Equal(t, c.cidr, made.Block.String())
			require.Equal(t, c.in, made.Region)
		})
	}
	t.Run("HeldInAnotherRegion", func(t *testing.T) {
		for _, cidr := range []string{"10.0.0.0/32", "10.0.0.0/27", "10.0.0.0/25", "10.0.0.160/27"} {
			for _, r := range []string{region, eu, us} {
				before := state(w.dump(t))
				_, err := w.by(r, claimOf("no", "net", exactly(cidr)))
				e := refused(t, err, ipam.CodeBlockTaken)
				require.Equal(t, "/spec/cidr", e.Fields[0].Pointer)
				after := state(w.dump(t))
				require.Equal(t, before["holds"], after["holds"])
			}
		}
	})
}

// Parts of a block are free in two regions and in the home region. A claim for the whole block must succeed.
func TestBlockFreeInPartsOfSeveralRegionsIsGathered(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]ipam.Claim{"ByLength": claim("all", "net", 24), "ByCIDR": claimOf("all", "net", exactly("10.0.0.0/24"))} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setupRegions(t)
			w.served(t, "net", "10.0.0.0/24")
			for _, r := range []string{eu, us} {
				_, err := w.by(r, claim("c", "net", 32))
				require.NoError(t, err)
				require.NoError(t, w.DeleteClaim(w.ctx, project, "c", usecase.Request{}))
			}
			made, err := w.by(us, ask)
			require.NoError(t, err)
			require.Equal(t, "10.0.0.0/24", made.Block.String())
			_, err = w.by(eu, claim("more", "net", 32))
			refused(t, err, ipam.CodePoolExhausted)
		})
	}
}

// A dry run returns the result of the real run, but moves no block between regions.
func TestDryRunMovesNoBlockBetweenRegions(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.served(t, "net", "10.0.0.0/24")
	before := w.dump(t)
	for _, c := range []ipam.Claim{claim("c", "net", 28), claimOf("c", "net", exactly("10.0.0.64/26"))} {
		got, err := w.in[eu].CreateClaim(w.ctx, project, c, usecase.Request{DryRun: true})
		require.NoError(t, err)
		require.True(t, got.Value.Block.IsValid())
	}
	require.Equal(t, before, w.dump(t))
	_, err := w.by(region, claim("all", "net", 24))
	require.NoError(t, err)
	before = w.dump(t)
	_, err = w.in[eu].CreateClaim(w.ctx, project, claim("c", "net", 28), usecase.Request{DryRun: true})
	refused(t, err, ipam.CodePoolExhausted)
	require.Equal(t, before, w.dump(t))
}

// If a pool does not serve the server's region, the claim gets a block in the pool's home region.
func TestUnservedRegionClaimsAtTheHome(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.served(t, "two", "10.0.0.0/24", func(p *ipam.PoolSpec) { p.Regions = []string{region, eu} })
	w.served(t, "alone", "10.1.0.0/24", func(p *ipam.PoolSpec) { p.Region, p.Regions = eu, nil })
	for pool, home := range map[string]string{"two": region, "alone": eu} {
		made, err := w.by(us, claim("c-"+pool, pool, 28))
		require.NoError(t, err)
		require.Equal(t, home, made.Region)
		read, err := w.in[us].GetClaim(w.ctx, project, "c-"+pool, usecase.Reading{})
		require.NoError(t, err)
		require.Equal(t, made, read)
		require.NoError(t, w.in[us].DeleteClaim(w.ctx, project, "c-"+pool, usecase.Request{}))
	}
}
