package alloc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

func TestDeleteOfAPoolInUseChangesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16", reserving(ipam.Reservation{First: 1})))
	b.pool(t, child("sub", "net", 20))
	b.pool(t, child("subsub", "sub", 24))
	b.claim(t, claim("one", "net", 24))
	b.claim(t, claim("two", "net", 32))
	b.claim(t, claim("kept", "net", 32, retain))
	b.release(t, "kept")
	b.pool(t, root("left", "10.1.0.0/16"))
	b.claim(t, claim("kept-too", "left", 32, retain))
	b.release(t, "kept-too")
	before := b.dump(t)
	for _, c := range []struct {
		pool                         string
		code                         ipam.Code
		claims, retained, childPools int64
		says                         string
	}{
		{"net", ipam.CodeInUse, 2, 1, 1, "2 claims, 1 retained allocation and 1 child pool"},
		{"sub", ipam.CodeInUse, 0, 0, 1, "0 claims, 0 retained allocations and 1 child pool"},
		{"left", ipam.CodeAllocationRetained, 0, 1, 0, "0 claims, 1 retained allocation and 0 child pools"},
	} {
		e := refused(t, b.DeletePool(b.ctx, project, c.pool, usecase.Request{}), c.code)
		require.Contains(t, e.Message, c.says)
		require.Equal(t, []int64{c.claims, c.retained, c.childPools}, []int64{*e.Figures.Claims, *e.Figures.Retained, *e.Figures.ChildPools}, c.pool)
	}
	require.Equal(t, before, b.dump(t))
}

func TestDeletedPoolReturnsItsBlockToTheParent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, root, block string
		all               string
	}{
		{"IPv4", "10.0.0.0/16", "10.0.16.0/20", "65536"},
		{"IPv6", "2001:db8::/48", "2001:db8:0:100::/56", "1208925819614629174706176"},
		{"TheWholeParent", "10.0.0.0/16", "10.0.0.0/16", "65536"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.pool(t, root("net", c.root))
			empty := state(b.dump(t))
			b.pool(t, childAt("sub", "net", c.block, reserving(ipam.Reservation{First: 5}, ipam.Reservation{Last: 5})))
			b.claim(t, claimOf("host", "sub", length(block(c.block).Addr().BitLen())))
			b.release(t, "host")
			require.NoError(t, b.DeletePool(b.ctx, project, "sub", usecase.Request{}))
			require.Equal(t, empty, state(b.dump(t)), "as if it had never been")
			_, err := b.GetPool(b.ctx, project, "sub", usecase.Reading{})
			refused(t, err, ipam.CodeNotFound)
			require.Equal(t, c.all, b.available(t, "net"))

			again := b.pool(t, childAt("sub", "net", c.block))
			require.Equal(t, block(c.block), again.Block, "and it can be carved again")
			require.NoError(t, b.DeletePool(b.ctx, project, "sub", usecase.Request{}))
			require.Equal(t, block(c.block), b.claim(t, claimOf("other", "net", exactly(c.block))).Block, "by somebody else too")
		})
	}
}

func TestDeletedRootPoolReturnsItsBlockToTheSpace(t *testing.T) {
	t.Parallel()
	b := setup(t)
	empty := state(b.dump(t))
	b.pool(t, root("net", "10.0.0.0/8"))
	b.pool(t, root("beside", "11.0.0.0/8"))
	require.NoError(t, b.DeletePool(b.ctx, project, "net", usecase.Request{}))
	b.pool(t, root("wider", "10.0.0.0/9"))
	require.NoError(t, b.DeletePool(b.ctx, project, "beside", usecase.Request{}))
	require.NoError(t, b.DeletePool(b.ctx, project, "wider", usecase.Request{}))
	require.Equal(t, empty, state(b.dump(t)), "the space is whole again: its free blocks have merged")
}

func TestDeleteOfAMissingPoolIsNotFound(t *testing.T) {
	t.Parallel()
	b := setup(t)
	refused(t, b.DeletePool(b.ctx, project, "none", usecase.Request{}), ipam.CodeNotFound)
	b.pool(t, root("net", "10.0.0.0/8"))
	require.NoError(t, b.DeletePool(b.ctx, project, "net", usecase.Request{}))
	refused(t, b.DeletePool(b.ctx, project, "net", usecase.Request{}), ipam.CodeNotFound)
}
