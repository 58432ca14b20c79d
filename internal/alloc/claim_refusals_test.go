package alloc_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

func TestRefusalsHaveDistinctCodesAndFigures(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/20", bounds(20, 30)))
	b.claim(t, claimOf("held", "net", exactly("10.0.0.0/21")))
	b.claim(t, claimOf("held-too", "net", exactly("10.0.8.0/22")))

	t.Run("NeverSatisfiable", func(t *testing.T) {
		e := b.refuseClaim(t, claim("c", "net", 16), ipam.CodeNeverSatisfiable)
		require.Equal(t, []int{16, 20, 30}, []int{*e.Figures.WantedPrefixLength, *e.Figures.AllowedMin, *e.Figures.AllowedMax})
		require.Equal(t, "/spec/prefixLength", e.Fields[0].Pointer)
		e = b.refuseClaim(t, claimOf("c", "net", exactly("10.0.0.0/19")), ipam.CodeNeverSatisfiable)
		require.Equal(t, "/spec/cidr", e.Fields[0].Pointer)
		e = b.refuseClaim(t, claimOf("c", "net", hostAddress("10.0.16.0")), ipam.CodeNeverSatisfiable)
		require.Equal(t, "/spec/address", e.Fields[0].Pointer)
		b.refuseClaim(t, claim("c", "net", 64), ipam.CodeNeverSatisfiable)
	})
	t.Run("PrefixLengthRejected", func(t *testing.T) {
		e := b.refuseClaim(t, claim("c", "net", 31), ipam.CodePrefixLengthRejected)
		require.Equal(t, []int{31, 20, 30}, []int{*e.Figures.WantedPrefixLength, *e.Figures.AllowedMin, *e.Figures.AllowedMax})
	})
	t.Run("FamilyMismatch", func(t *testing.T) {
		e := b.refuseClaim(t, claim("c", "net", 24, family(ipam.IPv6)), ipam.CodeFamilyMismatch)
		require.Equal(t, "/spec/ipFamily", e.Fields[0].Pointer)
		e = b.refuseClaim(t, claimOf("c", "net", exactly("2001:db8::/64")), ipam.CodeFamilyMismatch)
		require.Equal(t, "/spec/cidr", e.Fields[0].Pointer)
		e = b.refuseClaim(t, claimOf("c", "net", hostAddress("2001:db8::1")), ipam.CodeFamilyMismatch)
		require.Equal(t, "/spec/address", e.Fields[0].Pointer)
	})
	t.Run("PoolExhausted", func(t *testing.T) {
		e := b.refuseClaim(t, claim("c", "net", 21), ipam.CodePoolExhausted)
		require.Equal(t, []int{21, 22}, []int{*e.Figures.WantedPrefixLength, *e.Figures.LargestFreePrefixLength}, "which length is still free")
		require.Equal(t, "1024", e.Figures.AvailableAddresses)
		require.Equal(t, []string{"acme/net"}, e.Figures.PoolsTried)
		require.Contains(t, e.Message, "/22")
	})
	t.Run("BlockTaken", func(t *testing.T) {
		for _, cidr := range []string{"10.0.0.0/21", "10.0.4.0/24", "10.0.8.0/21", "10.0.0.0/20"} {
			e := b.refuseClaim(t, claimOf("c", "net", exactly(cidr)), ipam.CodeBlockTaken)
			require.Equal(t, "/spec/cidr", e.Fields[0].Pointer)
			require.Equal(t, block(cidr).Bits(), *e.Figures.WantedPrefixLength)
			require.Equal(t, []string{"acme/net"}, e.Figures.PoolsTried)
		}
	})
	t.Run("FullPool", func(t *testing.T) {
		b.claim(t, claim("rest", "net", 22))
		e := b.refuseClaim(t, claim("c", "net", 30), ipam.CodePoolExhausted)
		require.Nil(t, e.Figures.LargestFreePrefixLength)
		require.Equal(t, "0", e.Figures.AvailableAddresses)
		p, err := b.GetPool(b.ctx, project, "net", usecase.Reading{})
		require.NoError(t, err)
		require.Equal(t, "Exhausted", p.Phase())
	})
}

func TestFragmentedPoolReportsTheLargestFreePrefix(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	for i := range 16 {
		b.claim(t, claimOf(fmt.Sprintf("c%d", i), "net", exactly(fmt.Sprintf("10.0.0.%d/28", 16*i))))
	}
	for i := 0; i < 16; i += 2 {
		b.release(t, fmt.Sprintf("c%d", i))
	}
	e := b.refuseClaim(t, claim("c", "net", 27), ipam.CodePoolExhausted)
	require.Equal(t, 28, *e.Figures.LargestFreePrefixLength)
	require.Equal(t, "128", e.Figures.AvailableAddresses, "half of it is free, and no /27 of that")
	b.release(t, "c7")
	require.Equal(t, block("10.0.0.96/27"), b.claim(t, claim("c", "net", 27)).Block, "as soon as two neighbours are free, they are one")
}

func TestPoolCanBeAllocatedToTheLastAddress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pool string
		host int
	}{{"192.0.2.8/29", 32}, {"2001:db8::f8/125", 128}} {
		for _, s := range []ipam.Strategy{ipam.FirstFit, ipam.BestFit, ipam.Random, ipam.Sparse} {
			t.Run(c.pool+" "+string(s), func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				net := b.pool(t, root("net", c.pool, strategy(s)))
				seen := map[string]string{}
				for i := range 8 {
					name := fmt.Sprintf("c%d", i)
					got := b.claim(t, claim(name, "net", c.host)).Block
					require.True(t, net.Block.Contains(got.Addr()) && got.IsSingleIP())
					require.NotContains(t, seen, got.String())
					seen[got.String()] = name
					require.Equal(t, fmt.Sprint(7-i), b.available(t, "net"))
				}
				full := b.dump(t)
				b.refuseClaim(t, claim("ninth", "net", c.host), ipam.CodePoolExhausted)
				_, err := b.CreateClaim(b.ctx, project, claim("ninth", "net", c.host), key("k", "ninth"))
				refused(t, err, ipam.CodePoolExhausted)
				require.Equal(t, full, b.dump(t), "the ninth leaves nothing behind")
				for freed, name := range seen {
					b.release(t, name)
					require.Equal(t, "1", b.available(t, "net"))
					require.Equal(t, []string{freed}, b.free(t, "net"))
					require.Equal(t, freed, b.claim(t, claim(name, "net", c.host)).Block.String(), "the next takes exactly that one")
				}
			})
		}
	}
}

func TestCapacityIsExactAfterEveryOperation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, pool                  string
		all, less24, lessSub, after string
		bits, sub                   int
	}{
		{"IPv4", "10.0.0.0/8", "16777216", "16776960", "16711424", "16776960", 24, 16},
		{
			"IPv6", "2001:db8::/32", "79228162514264337593543950336", "79228162495817593519834398720",
			"79226953569997978890659692544", "79228162495817593519834398720", 64, 48,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.pool(t, root("net", c.pool))
			require.Equal(t, c.all, b.available(t, "net"))
			b.claim(t, claim("c", "net", c.bits))
			require.Equal(t, c.less24, b.available(t, "net"))
			b.pool(t, child("sub", "net", c.sub))
			require.Equal(t, c.lessSub, b.available(t, "net"))
			_, err := b.CreateClaim(b.ctx, project, claim("in-sub", "sub", c.bits), usecase.Request{})
			require.NoError(t, err)
			require.Equal(t, c.lessSub, b.available(t, "net"), "what happens in a child does not show in its parent")
			b.release(t, "in-sub")
			require.NoError(t, b.DeletePool(b.ctx, project, "sub", usecase.Request{}))
			require.Equal(t, c.after, b.available(t, "net"))
			_, err = b.patch("net", usecase.Request{}, reserving(ipam.Reservation{Last: 256}))
			require.NoError(t, err)
			_, err = b.patch("net", usecase.Request{}, reserving())
			require.NoError(t, err)
			require.Equal(t, c.after, b.available(t, "net"))
			b.release(t, "c")
			require.Equal(t, c.all, b.available(t, "net"))
			require.Equal(t, []string{c.pool}, b.free(t, "net"))
		})
	}
}
