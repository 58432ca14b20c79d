package alloc_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Servers in three regions claim for the same scope at the same time. Carve makes only one pool, in the region of the first claim.
func TestScopeClaimedInThreeRegionsHasOnePool(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.class(t, platform, class("net", sharedClass, lengths(24, 28, 28), poolPer(24, "site")))
	w.poolIn(t, platform, root("eu", "10.0.0.0/16", backing("net"), func(p *ipam.Pool) { p.Spec.Regions = []string{region, eu, us} }))
	regions := []string{region, eu, us}
	claims, errs := make([]ipam.Claim, 12), make([]error, 12)
	var wg sync.WaitGroup
	for i := range claims {
		wg.Go(func() { claims[i], errs[i] = w.by(regions[i%3], atSite(fmt.Sprintf("c%d", i), "ber")) })
	}
	wg.Wait()
	p := w.only(t)
	blocks := map[string]bool{}
	for i, c := range claims {
		require.NoError(t, errs[i])
		require.Equal(t, p.UID, c.PoolID)
		require.Equal(t, p.Region, c.Region)
		blocks[c.Block.String()] = true
	}
	require.Len(t, blocks, len(claims))

	near, err := w.by(us, atSite("near", "ham"))
	require.NoError(t, err)
	require.Equal(t, us, near.Region, "another site's pool is where it was first claimed from")
}

// A server in any region can bind a retained block to a claim, or delete it.
func TestRetainedBlockIsReachableFromAnyRegion(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.served(t, "net", "10.0.0.0/24")
	c, err := w.by(eu, claim("c", "net", 28, retain))
	require.NoError(t, err)
	require.NoError(t, w.in[us].DeleteClaim(w.ctx, project, "c", usecase.Request{}))
	again1, err := w.by(us, again("d", c.AllocationID))
	require.NoError(t, err)
	require.Equal(t, c.Block, again1.Block)
	require.Equal(t, eu, again1.Region)
	_, err = w.by(region, again("e", c.AllocationID))
	require.Error(t, err, "it is held again")
	_, err = w.in[us].PatchClaim(w.ctx, project, "d", usecase.Request{}, func(c ipam.Claim) (ipam.Claim, error) {
		c.Labels = labels("seen-from", "us")
		return c, nil
	})
	require.NoError(t, err)
	got, err := w.in[eu].GetClaim(w.ctx, project, "d", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, "us", got.Labels["seen-from"])
	_, err = w.in[region].PatchClaim(w.ctx, project, "d", usecase.Request{}, func(c ipam.Claim) (ipam.Claim, error) {
		c.Spec.ReclaimPolicy = ipam.ReclaimRetain
		return c, nil
	})
	require.NoError(t, err)
	require.NoError(t, w.in[region].DeleteClaim(w.ctx, project, "d", usecase.Request{}))
	require.NoError(t, w.in[region].DeleteAllocation(w.ctx, project, c.AllocationID.String(), usecase.Request{}))
	whole, err := w.by(us, claim("whole", "net", 24))
	require.NoError(t, err)
	require.Equal(t, 24, whole.Block.Bits())
}

// A claim by class prefers pools in the server's region. If these are full, it uses a pool in another region.
func TestClassPrefersPoolsOfItsRegion(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.class(t, project, class("std", lengths(24, 32, 28)))
	for i, r := range []string{region, eu, us} {
		w.served(t, "net-"+r, fmt.Sprintf("10.%d.0.0/27", i), func(p *ipam.PoolSpec) { p.Region, p.Regions, p.ClassNames = r, nil, []string{"std"} })
	}
	for _, r := range []string{us, eu, region} {
		for i := range 2 {
			c, err := w.by(r, byClass(fmt.Sprintf("c-%s-%d", r, i), "std"))
			require.NoError(t, err)
			require.Equal(t, r, c.Region)
		}
	}
	_, err := w.by(us, byClass("no", "std"))
	refused(t, err, ipam.CodePoolExhausted)
	require.NoError(t, w.DeleteClaim(w.ctx, project, "c-eu-1", usecase.Request{}))
	w.clock.move(time.Minute)
	c, err := w.by(us, byClass("far", "std"))
	require.NoError(t, err)
	require.Equal(t, eu, c.Region)
}
