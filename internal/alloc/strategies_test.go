package alloc_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// holes makes a /24 pool whose only free blocks are .64/30, .96/28 and .128/25.
func (b *bundle) holes(t *testing.T, name string, s ipam.Strategy) {
	t.Helper()
	b.pool(t, root(name, "10.0.0.0/24", strategy(s), inSpace(name)))
	for i, cidr := range []string{"10.0.0.0/26", "10.0.0.68/30", "10.0.0.72/29", "10.0.0.80/28", "10.0.0.112/28"} {
		b.claim(t, claimOf(fmt.Sprintf("%s-%d", name, i), name, exactly(cidr)))
	}
	require.Equal(t, []string{"10.0.0.128/25", "10.0.0.96/28", "10.0.0.64/30"}, b.free(t, name))
}

func (b *bundle) take(t *testing.T, pool string, lengths ...int) []string {
	t.Helper()
	out := make([]string, len(lengths))
	for i, bits := range lengths {
		out[i] = b.claim(t, claim(fmt.Sprintf("%s-take-%d", pool, i), pool, bits)).Block.String()
	}
	return out
}

func TestStrategies(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, s := range []string{"first", "best", "sparse"} {
		_, err := b.CreateSpace(b.ctx, project, ipam.Space{Metadata: meta(s)}, usecase.Request{})
		require.NoError(t, err)
	}
	t.Run("FirstFitTakesTheStrictlyLowest", func(t *testing.T) {
		b.holes(t, "first", ipam.FirstFit)
		require.Equal(t, []string{"10.0.0.64/32", "10.0.0.96/29", "10.0.0.65/32", "10.0.0.66/31", "10.0.0.104/32", "10.0.0.128/28"},
			b.take(t, "first", 32, 29, 32, 31, 32, 28))
	})
	t.Run("BestFitTakesTheTightest", func(t *testing.T) {
		b.holes(t, "best", ipam.BestFit)
		require.Equal(t, []string{"10.0.0.96/29", "10.0.0.64/32", "10.0.0.104/30", "10.0.0.66/31", "10.0.0.108/30", "10.0.0.65/32", "10.0.0.128/32"},
			b.take(t, "best", 29, 32, 30, 31, 30, 32, 32))
	})
	t.Run("SparseLeavesRoomToGrow", func(t *testing.T) {
		b.holes(t, "sparse", ipam.Sparse)
		require.Equal(t, []string{"10.0.0.128/28", "10.0.0.192/28", "10.0.0.160/28", "10.0.0.224/28", "10.0.0.96/28"},
			b.take(t, "sparse", 28, 28, 28, 28, 28))
	})
}

func TestRandomClaimsStayInsideThePoolAndDiffer(t *testing.T) {
	t.Parallel()
	for _, cidr := range []string{"0.0.0.0/0", "2001:db8::/32"} {
		t.Run(cidr, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			net := b.pool(t, root("net", cidr, strategy(ipam.Random)))
			seen := map[netip.Prefix]bool{}
			for i := range 8 {
				got := b.claim(t, claim(fmt.Sprintf("c%d", i), "net", net.Family().Bits()))
				require.True(t, net.Block.Contains(got.Block.Addr()))
				require.False(t, seen[got.Block])
				seen[got.Block] = true
			}
			// The test takes eight random blocks out of 2^32. The probability that two of them are neighbours is 1 in 77 million.
			for p := range seen {
				require.False(t, seen[netip.PrefixFrom(p.Addr().Next(), p.Bits())], "blocks in a row are not random")
			}
		})
	}
}

func TestRandomFindsTheLastFreeBlock(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/28", strategy(ipam.Random)))
	seen := map[netip.Prefix]bool{}
	for i := range 16 {
		seen[b.claim(t, claim(fmt.Sprintf("c%d", i), "net", 32)).Block] = true
	}
	require.Len(t, seen, 16)
	b.refuseClaim(t, claim("more", "net", 32), ipam.CodePoolExhausted)
}

func TestChildPoolsFollowTheParentsStrategy(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16", strategy(ipam.Sparse)))
	for i, want := range []string{"10.0.0.0/20", "10.0.128.0/20", "10.0.64.0/20", "10.0.192.0/20", "10.0.32.0/20"} {
		require.Equal(t, block(want), b.pool(t, child(fmt.Sprintf("sub%d", i), "net", 20)).Block)
	}
}
