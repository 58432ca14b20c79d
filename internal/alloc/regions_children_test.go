package alloc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// A region makes a child pool from its own share of the parent's free blocks. The home of the child pool is this region. When the child pool is
// deleted, its block returns to the region's share.
func TestChildPoolIsCarvedFromItsParentInARegion(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.served(t, "net", "10.0.0.0/16")
	got, err := w.in[eu].CreatePool(w.ctx, project, child("by-length", "net", 24), usecase.Request{})
	require.NoError(t, err)
	require.Equal(t, eu, got.Value.Region)
	require.Equal(t, eu, got.Value.Spec.Region)
	c, err := w.by(us, claim("c", "by-length", 28))
	require.NoError(t, err)
	require.Equal(t, eu, c.Region, "the child serves its own region alone")
	refused(t, w.in[us].DeletePool(w.ctx, project, "by-length", usecase.Request{}), ipam.CodeInUse)
	refused(t, w.in[us].DeletePool(w.ctx, project, "net", usecase.Request{}), ipam.CodeInUse)

	at, err := w.in[us].CreatePool(w.ctx, project, childAt("by-cidr", "net", got.Value.Block.String()), usecase.Request{})
	_ = at
	refused(t, err, ipam.CodeBlockTaken)
	at, err = w.in[us].CreatePool(w.ctx, project, childAt("by-cidr", "net", "10.0.255.0/24"), usecase.Request{})
	require.NoError(t, err)
	require.Equal(t, us, at.Value.Region, "its home is where it was made, wherever its block was")

	require.NoError(t, w.in[us].DeleteClaim(w.ctx, project, "c", usecase.Request{}))
	require.NoError(t, w.in[us].DeletePool(w.ctx, project, "by-length", usecase.Request{}))
	require.NoError(t, w.in[eu].DeletePool(w.ctx, project, "by-cidr", usecase.Request{}))
	whole, err := w.by(us, claim("whole", "net", 16))
	require.NoError(t, err)
	require.Equal(t, "10.0.0.0/16", whole.Block.String())
}

// A child pool can also serve several regions and lend blocks to them.
func TestChildPoolServesSeveralRegions(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.served(t, "net", "10.0.0.0/16")
	spread := child("spread", "net", 20, func(p *ipam.Pool) { p.Spec.Region, p.Spec.Regions = us, []string{us, eu} })
	got, err := w.in[eu].CreatePool(w.ctx, project, spread, usecase.Request{})
	require.NoError(t, err)
	require.Equal(t, us, got.Value.Region)
	for _, r := range []string{region, eu, us} {
		c, err := w.by(r, claim("c-"+r, "spread", 28))
		require.NoError(t, err)
		require.Contains(t, []string{eu, us}, c.Region)
		require.True(t, got.Value.Block.Contains(c.Block.Addr()))
	}
	for _, r := range []string{region, eu, us} {
		require.NoError(t, w.in[r].DeleteClaim(w.ctx, project, "c-"+r, usecase.Request{}))
	}
	require.NoError(t, w.in[region].DeletePool(w.ctx, project, "spread", usecase.Request{}))
	require.NoError(t, w.in[eu].DeletePool(w.ctx, project, "net", usecase.Request{}))
	require.Empty(t, w.dump(t)["region_blocks"])
	require.Empty(t, w.dump(t)["stocks"])
}

// A batch succeeds or fails as a whole, even if its region must borrow blocks several times for it.
func TestBatchBorrowsForAllItsClaims(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.served(t, "net", "10.0.0.0/24")
	many := func(prefix string, n, bits int) (list []ipam.Claim) {
		for i := range n {
			list = append(list, claim(prefix+"-"+string(rune('a'+i/26))+string(rune('a'+i%26)), "net", bits))
		}
		return list
	}
	made, err := w.in[eu].CreateClaimBatch(w.ctx, project, many("x", 100, 32), key("k", "k"))
	require.NoError(t, err)
	require.Len(t, made.Value, 100)
	for _, c := range made.Value {
		require.Equal(t, eu, c.Region)
	}
	again, err := w.in[eu].CreateClaimBatch(w.ctx, project, many("x", 100, 32), key("k", "k"))
	require.NoError(t, err)
	require.Equal(t, made.Value, again.Value)

	before := state(w.dump(t))
	_, err = w.in[us].CreateClaimBatch(w.ctx, project, many("y", 157, 32), usecase.Request{})
	refused(t, err, ipam.CodePoolExhausted)
	after := state(w.dump(t))
	require.Equal(t, before["holds"], after["holds"], "nothing of it was made")
	_, err = w.in[us].CreateClaimBatch(w.ctx, project, many("z", 156, 32), usecase.Request{})
	require.NoError(t, err, "all that is left, in whichever regions it was")
}
