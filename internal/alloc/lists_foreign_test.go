package alloc_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

func TestClaimsOnAPoolOfAnotherProjectAreListed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	neighbour := b.neighbour(t)
	b.pool(t, root("net", "10.0.0.0/24", visible(ipam.VisibilityShared)))
	b.pool(t, root("six", "2001:db8::/64", visible(ipam.VisibilityShared)))
	for _, pool := range []string{"net", "six"} {
		_, err := b.PutPoolGrant(b.ctx, project, pool, other, usecase.Request{})
		require.NoError(t, err)
	}
	b.claim(t, claim("own", "net", 32))
	for i, name := range []string{"c", "a", "b"} {
		_, err := b.CreateClaim(neighbour, other, claimOf(name, "net", hostAddress(fmt.Sprintf("10.0.0.%d", 100+i))), usecase.Request{})
		require.NoError(t, err)
	}
	list := func(pool ipam.Ref) []string {
		t.Helper()
		return names(all(t, 2, func(n int, c string) (paging.Page[ipam.Claim], error) {
			return b.ListClaims(neighbour, other, paging.Filter{Pool: pool}, n, c, usecase.Reading{})
		}))
	}
	require.Equal(t, []string{"a", "b", "c"}, list(ref("net")), "the own ones alone")
	require.NoError(t, b.DeletePoolGrant(b.ctx, project, "net", other, usecase.Request{}))
	require.Equal(t, []string{"a", "b", "c"}, list(ref("net")), "what is held stays to be seen")
	require.Empty(t, list(ref("six")))
	for _, pool := range []ipam.Ref{ref("none"), {Project: "none", Name: "net"}} {
		_, err := b.ListClaims(neighbour, other, paging.Filter{Pool: pool}, 10, "", usecase.Reading{})
		refused(t, err, ipam.CodeInvalidArgument)
	}
	page, err := b.ListAllocations(neighbour, other, paging.Filter{Pool: ref("six")}, 10, "", usecase.Reading{})
	require.NoError(t, err)
	require.Empty(t, page.Items, "allocations are the owner's")

	// A cursor in the order of addresses is valid only in lists of own pools. The server refuses it for another project's pool, even if the pool does
	// not exist.
	forged := alloc.SealCursor("claims-in-pool", address("2001:db8::1"))
	_, err = b.ListClaims(b.ctx, project, paging.Filter{Pool: ref("net")}, 10, forged, usecase.Reading{})
	refused(t, err, ipam.CodeInvalidArgument)
	for _, pool := range []ipam.Ref{ref("net"), ref("none")} {
		_, err := b.ListClaims(neighbour, other, paging.Filter{Pool: pool}, 10, forged, usecase.Reading{})
		refused(t, err, ipam.CodeInvalidArgument)
	}
}
