package alloc_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (w *world) reregion(pool string, regions ...string) error {
	_, err := w.patch(pool, usecase.Request{}, func(p *ipam.Pool) { p.Spec.Regions = regions })
	return err
}

// A PATCH can add regions to a pool. It can remove a region from a pool only if the region holds no block of it.
func TestPatchAddsAndRemovesRegionsOfAPool(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.pool(t, root("net", "10.0.0.0/24"))
	one, err := w.by(eu, claim("one", "net", 32))
	require.NoError(t, err)
	require.Equal(t, region, one.Region, "so far it is at home alone")

	require.NoError(t, w.reregion("net", region, eu))
	two, err := w.by(eu, claim("two", "net", 32))
	require.NoError(t, err)
	require.Equal(t, eu, two.Region)
	three, err := w.by(us, claim("three", "net", 32))
	require.NoError(t, err)
	require.Equal(t, region, three.Region)

	refused(t, w.reregion("net", region, us), ipam.CodeInUse)
	refused(t, w.reregion("net"), ipam.CodeInUse)
	before := state(w.dump(t))
	require.Equal(t, "/spec/regions", refused(t, w.reregion("net", eu, us), ipam.CodeInvalidArgument).Fields[0].Pointer)
	require.Equal(t, "/spec/regions/1", refused(t, w.reregion("net", region, "mars"), ipam.CodeInvalidArgument).Fields[0].Pointer)
	require.Equal(t, before, state(w.dump(t)))

	require.NoError(t, w.in[us].DeleteClaim(w.ctx, project, "two", usecase.Request{}))
	require.NoError(t, w.reregion("net", region, us))
	four, err := w.by(us, claim("four", "net", 32))
	require.NoError(t, err)
	require.Equal(t, us, four.Region)
	five, err := w.by(eu, claim("five", "net", 32))
	require.NoError(t, err)
	require.Equal(t, region, five.Region)
	require.NoError(t, w.in[eu].DeleteClaim(w.ctx, project, "four", usecase.Request{}))
	require.NoError(t, w.reregion("net"))
	for _, table := range []string{"region_blocks", "pool_regions", "stocks"} {
		require.Empty(t, w.dump(t)[table])
	}
}

// A reservation moves the free parts of its block to the home region. If a claim in a region holds a part, the reservation is refused.
func TestReservationTakesLentBlocks(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.served(t, "net", "10.0.0.0/24")
	c, err := w.by(eu, claim("c", "net", 32))
	require.NoError(t, err)
	require.Equal(t, "10.0.0.0/32", c.Block.String())
	reserve := func(cidr string) error {
		_, err := w.patch("net", usecase.Request{}, func(p *ipam.Pool) { p.Spec.Reservations = []ipam.Reservation{{CIDR: block(cidr)}} })
		return err
	}
	refused(t, reserve("10.0.0.0/30"), ipam.CodeBlockTaken)
	require.NoError(t, reserve("10.0.0.32/27"))
	_, err = w.by(eu, claimOf("no", "net", exactly("10.0.0.40/32")))
	refused(t, err, ipam.CodeBlockTaken)
	require.NoError(t, reserve("10.0.0.192/26"), "and what was reserved before is free again")
	_, err = w.by(eu, claimOf("yes", "net", exactly("10.0.0.40/32")))
	require.NoError(t, err)
}

// A pool in several regions can be deleted if no region holds a block of it. Free blocks that the pool has lent do not matter.
func TestMultiRegionPoolIsDeletedWhenEmpty(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.served(t, "net", "10.0.0.0/16", func(p *ipam.PoolSpec) { p.Reservations = []ipam.Reservation{{First: 1}} })
	_, err := w.by(eu, claim("c", "net", 28))
	require.NoError(t, err)
	_, err = w.by(us, claim("d", "net", 28))
	require.NoError(t, err)
	e := refused(t, w.DeletePool(w.ctx, project, "net", usecase.Request{}), ipam.CodeInUse)
	require.EqualValues(t, 2, *e.Figures.Claims)
	refused(t, w.DeletePool(w.ctx, project, "net", usecase.Request{DryRun: true}), ipam.CodeInUse)
	for _, name := range []string{"c", "d"} {
		require.NoError(t, w.DeleteClaim(w.ctx, project, name, usecase.Request{}))
	}
	before := w.dump(t)
	require.NoError(t, w.DeletePool(w.ctx, project, "net", usecase.Request{DryRun: true}))
	require.Equal(t, before, w.dump(t))
	require.NoError(t, w.in[us].DeletePool(w.ctx, project, "net", usecase.Request{}))
	for _, table := range []string{"region_blocks", "pool_regions", "stocks"} {
		require.Empty(t, w.dump(t)[table])
	}
}

// A block cools down in the region of its claim, and only a server of this region frees it.
func TestCooldownStaysInTheRegionOfTheClaim(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.served(t, "net", "10.0.0.0/24", func(p *ipam.PoolSpec) { p.ReuseAfter = new(time.Hour) })
	c, err := w.by(eu, claim("c", "net", 26))
	require.NoError(t, err)
	require.Equal(t, eu, c.Region)
	require.NoError(t, w.in[us].DeleteClaim(w.ctx, project, "c", usecase.Request{}))
	_, err = w.by(us, claim("whole", "net", 24))
	refused(t, err, ipam.CodePoolExhausted)
	refused(t, w.reregion("net", region, us), ipam.CodeInUse)

	w.clock.move(time.Hour)
	n, err := w.in[us].FreeCooled(w.ctx, 10)
	require.NoError(t, err)
	require.Zero(t, n, "it is not us's")
	n, err = w.in[eu].FreeCooled(w.ctx, 10)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	_, err = w.by(us, claim("whole", "net", 24))
	require.NoError(t, err)
}
