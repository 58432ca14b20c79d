package alloc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

func TestCreatedClaimIsReturnedBound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, pool string
		claim      ipam.Claim
		block      string
		available  string
	}{
		{"ByLength", "10.0.0.0/16", claim("c", "net", 20), "10.0.0.0/20", "61440"},
		{"ByLengthInIPv6", "2001:db8::/56", claim("c", "net", 64), "2001:db8::/64", "4703919738795935662080"},
		{"ByLengthAndFamily", "10.0.0.0/16", claim("c", "net", 20, family(ipam.IPv4)), "10.0.0.0/20", "61440"},
		{"ThisBlock", "10.0.0.0/16", claimOf("c", "net", exactly("10.0.33.0/24")), "10.0.33.0/24", "65280"},
		{"ThisBlockWithItsLength", "10.0.0.0/16", claimOf("c", "net", exactly("10.0.33.0/24"), length(24)), "10.0.33.0/24", "65280"},
		{"ThisAddress", "10.0.0.0/16", claimOf("c", "net", hostAddress("10.0.33.7")), "10.0.33.7/32", "65535"},
		{"ThisAddressOfIPv6", "2001:db8::/120", claimOf("c", "net", hostAddress("2001:db8::ff")), "2001:db8::ff/128", "255"},
		{"HostAddress", "10.0.0.0/16", claim("c", "net", 32), "10.0.0.0/32", "65535"},
		{"HostAddressOfIPv6", "2001:db8::/120", claim("c", "net", 128), "2001:db8::/128", "255"},
		{"TheWholePool", "10.0.0.0/16", claim("c", "net", 16), "10.0.0.0/16", "0"},
		{"TheWholePoolOfOneAddress", "2001:db8::1/128", claim("c", "net", 128), "2001:db8::1/128", "0"},
		{"HalfAFamily", "8000::/1", claim("c", "net", 1), "8000::/1", "0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			pool := b.pool(t, root("net", c.pool))
			c.claim.Labels, c.claim.Annotations = labels("app", "web"), map[string]string{"note": "a b"}
			c.claim.Spec.OwnerRef = &ipam.OwnerRef{Kind: "VM", Name: "web-1", UID: "7"}
			made := b.claim(t, c.claim)
			require.Equal(t, c.block, made.Block.String())
			require.Equal(t, ref("net"), made.Pool)
			require.Equal(t, c.claim.Spec, made.Spec, "the spec stays as it was written")
			require.Equal(t, c.available, b.available(t, "net"), "available falls by exactly the block")

			read, err := b.GetClaim(b.ctx, project, "c", usecase.Reading{})
			require.NoError(t, err)
			require.Equal(t, made, read)
			held, err := b.GetAllocation(b.ctx, project, made.AllocationID.String(), usecase.Reading{})
			require.NoError(t, err)
			require.Equal(t, ipam.Allocation{
				ID: made.AllocationID, Region: region, ProjectID: pool.ProjectID, Project: project, ContainerID: pool.UID, Pool: ref("net"),
				Block: made.Block, Purpose: ipam.PurposeClaim, Phase: ipam.PhaseBound,
				HolderProjectID: pool.ProjectID, Holder: ref("c"), ReclaimPolicy: ipam.ReclaimDelete, OwnerRef: c.claim.Spec.OwnerRef, Since: made.CreatedAt,
				Revision: ipam.DerivedID(made.Revision, "allocation"), CreatedAt: made.CreatedAt, UpdatedAt: made.CreatedAt, CreatedBy: "tester",
			}, held)

			b.release(t, "c")
			require.Equal(t, []string{c.pool}, b.free(t, "net"), "and all of it is there again")
			require.Equal(t, made.Block, b.claim(t, c.claim).Block, "a released block can be had again")
		})
	}
}

func TestSecondClaimGetsADisjointBlock(t *testing.T) {
	t.Parallel()
	for _, s := range []ipam.Strategy{ipam.FirstFit, ipam.BestFit, ipam.Random, ipam.Sparse} {
		t.Run(string(s), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.pool(t, root("net", "10.0.0.0/24", strategy(s)))
			one, two := b.claim(t, claim("one", "net", 26)), b.claim(t, claim("two", "net", 25))
			require.False(t, one.Block.Overlaps(two.Block))
			require.Equal(t, "64", b.available(t, "net"))
		})
	}
}

func TestClaimWithoutPrefixLengthGetsThePoolDefault(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16", byDefault(28)))
	b.pool(t, root("plain", "10.1.0.0/16"))
	made := b.claim(t, claimOf("c", "net"))
	require.Equal(t, 28, made.Block.Bits())
	require.Nil(t, made.Spec.PrefixLength)
	require.Equal(t, 30, b.claim(t, claim("d", "net", 30)).Block.Bits(), "a length of its own comes first")
	e := b.refuseClaim(t, claimOf("e", "plain"), ipam.CodeInvalidArgument)
	require.Equal(t, "/spec/prefixLength", e.Fields[0].Pointer)
}

func TestInvalidClaimIsRefusedBeforeAnyRead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	for _, c := range []struct {
		name    string
		claim   ipam.Claim
		code    ipam.Code
		pointer string
	}{
		{"NoWayOfChoosing", claimOf("c", "", func(c *ipam.Claim) { c.Spec.PoolRef = ipam.Ref{} }), ipam.CodeNoDefaultClass, "/spec"},
		{"TwoWaysOfChoosing", claim("c", "net", 24, func(c *ipam.Claim) { c.Spec.PoolSelector = &ipam.Selector{} }), ipam.CodeInvalidArgument, "/spec"},
		{"BlockAndAddress", claimOf("c", "net", exactly("10.0.0.0/24"), hostAddress("10.0.0.1")), ipam.CodeInvalidArgument, "/spec"},
		{"NegativeLength", claim("c", "net", -1), ipam.CodeInvalidArgument, "/spec/prefixLength"},
		{"AnotherLengthThanTheBlock", claimOf("c", "net", exactly("10.0.0.0/24"), length(25)), ipam.CodeInvalidArgument, "/spec/prefixLength"},
		{"AnotherFamilyThanTheBlock", claimOf("c", "net", exactly("10.0.0.0/24"), family(ipam.IPv6)), ipam.CodeFamilyMismatch, "/spec/ipFamily"},
		{"Name", claim("Not a name", "net", 24), ipam.CodeInvalidArgument, "/metadata/name"},
		{"UnknownPolicy", claim("c", "net", 24, func(c *ipam.Claim) { c.Spec.ReclaimPolicy = "Keep" }), ipam.CodeInvalidArgument, "/spec/reclaimPolicy"},
		{"Pool", claim("c", "none", 24), ipam.CodeNotFound, "/spec/poolRef/name"},
		{"PoolOfAnotherProject", claim("c", "net", 24, func(c *ipam.Claim) { c.Spec.PoolRef.Project = "umbrella" }), ipam.CodeNotFound, "/spec/poolRef/name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := b.dump(t)
			_, err := b.CreateClaim(b.ctx, project, c.claim, usecase.Request{})
			require.Equal(t, c.pointer, refused(t, err, c.code).Fields[0].Pointer)
			require.Equal(t, before, b.dump(t))
		})
	}
}

func TestClaimNameIsUniqueInItsProject(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	b.pool(t, root("other", "10.1.0.0/16"))
	b.claim(t, claim("c", "net", 24))
	before := b.dump(t)
	for _, again := range []ipam.Claim{claim("c", "net", 24), claim("c", "other", 24)} {
		_, err := b.CreateClaim(b.ctx, project, again, usecase.Request{})
		require.Equal(t, "/metadata/name", refused(t, err, ipam.CodeAlreadyExists).Fields[0].Pointer)
	}
	require.Equal(t, before, b.dump(t))
	b.release(t, "c")
	was := b.claim(t, claim("c", "other", 24))
	require.Equal(t, ref("other"), was.Pool, "a name is free again with its claim")
}
