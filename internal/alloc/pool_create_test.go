package alloc_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

func TestRootPoolIsCarvedFromItsSpace(t *testing.T) {
	t.Parallel()
	for _, cidr := range []string{"10.0.0.0/8", "0.0.0.0/0", "192.0.2.7/32", "2001:db8::/32", "8000::/1", "2001:db8::1/128"} {
		t.Run(cidr, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			made := b.pool(t, root("net", cidr, labelled("site", "fra")))
			require.Equal(t, block(cidr), made.Block)
			require.Equal(t, ref("default"), made.Space)
			require.Equal(t, ref("default"), made.Spec.Space)
			require.Equal(t, []string{cidr}, b.free(t, "net"))
			require.Equal(t, "Ready", made.Phase())
			require.EqualValues(t, 1, made.Generation)
			require.Equal(t, "tester", made.CreatedBy)
			require.Equal(t, b.clock.read(), made.CreatedAt)

			read, err := b.GetPool(b.ctx, project, "net", usecase.Reading{})
			require.NoError(t, err)
			require.Equal(t, made, read, "what was answered is what is stored")
		})
	}
}

func TestPoolWithIPv4MappedAddressesIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, cidr := range []string{"::/0", "::fffe:0:0/95"} {
		for _, r := range []usecase.Request{{}, dry} {
			_, err := b.CreatePool(b.ctx, project, root("net", cidr), r)
			e := refused(t, err, ipam.CodeInvalidArgument)
			require.Equal(t, "/spec/cidr", e.Fields[0].Pointer)
			require.Contains(t, e.Fields[0].Detail, "::ffff:0:0/96")
		}
	}
	b.pool(t, root("low", "::/81"))
	b.pool(t, root("next", "::fffe:0:0/96"))
}

func TestChildPoolIsCarvedFromItsParent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		root string
		bits []int // prefix length of the pool at each level
		free []string
	}{
		{"10.0.0.0/8", []int{12, 16, 20, 24, 28, 32}, []string{"10.16.0.0/12", "10.32.0.0/11", "10.64.0.0/10", "10.128.0.0/9"}},
		{"2001:db8::/32", []int{40, 48, 56, 64, 96, 128}, nil},
	} {
		t.Run(c.root, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			parent := b.pool(t, root("level0", c.root))
			for i, bits := range c.bits {
				made := b.pool(t, child(fmt.Sprintf("level%d", i+1), parent.Name, bits))
				require.Equal(t, bits, made.Block.Bits())
				require.True(t, parent.Block.Contains(made.Block.Addr()), "%v is inside %v", made.Block, parent.Block)
				require.Equal(t, parent.Family(), made.Family(), "the family is inherited")
				require.Equal(t, parent.Space, made.Space, "the space is inherited")
				require.Equal(t, parent.UID, made.ContainerID)
				read, err := b.GetPool(b.ctx, project, made.Name, usecase.Reading{})
				require.NoError(t, err)
				require.Equal(t, made, read)
				parent = made
			}
			if c.free != nil {
				require.ElementsMatch(t, c.free, b.free(t, "level0"))
			}
			deepest := b.claim(t, claim("host", parent.Name, parent.Family().Bits()))
			require.Equal(t, parent.Block, deepest.Block)
		})
	}
}

func TestChildPoolWithAnExactCIDR(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	made := b.pool(t, childAt("third", "net", "10.0.48.0/20"))
	require.Equal(t, block("10.0.48.0/20"), made.Block)
	require.Equal(t, block("10.0.48.0/20"), made.Spec.CIDR)
	require.Nil(t, made.Spec.PrefixLength)

	for _, c := range []struct {
		name, cidr string
		code       ipam.Code
		pointer    string
	}{
		{"RefusesABlockOfAnother", "10.0.48.0/20", ipam.CodeBlockTaken, "/spec/cidr"},
		{"RefusesPartOfAnother", "10.0.50.0/24", ipam.CodeBlockTaken, "/spec/cidr"},
		{"RefusesToCoverAnother", "10.0.32.0/19", ipam.CodeBlockTaken, "/spec/cidr"},
		{"RefusesOutside", "10.1.0.0/24", ipam.CodeNeverSatisfiable, "/spec/cidr"},
		{"RefusesLargerThanTheParent", "10.0.0.0/15", ipam.CodeNeverSatisfiable, "/spec/cidr"},
		{"RefusesTheOtherFamily", "2001:db8::/64", ipam.CodeFamilyMismatch, "/spec/cidr"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := b.dump(t)
			_, err := b.CreatePool(b.ctx, project, childAt("other", "net", c.cidr), usecase.Request{})
			e := refused(t, err, c.code)
			require.Equal(t, c.pointer, e.Fields[0].Pointer)
			require.Equal(t, before, b.dump(t), "nothing was changed")
		})
	}
}

func TestOverlapIsRefusedWithinASpaceAndAllowedAcrossSpaces(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.CreateSpace(b.ctx, project, ipam.Space{Metadata: meta("blue")}, usecase.Request{})
	require.NoError(t, err)
	b.pool(t, root("net", "10.0.0.0/16"))

	for _, cidr := range []string{"10.0.0.0/16", "10.0.0.0/8", "10.0.3.0/24", "10.0.255.255/32", "0.0.0.0/0"} {
		t.Run("Refuses "+cidr, func(t *testing.T) {
			before := b.dump(t)
			_, err := b.CreatePool(b.ctx, project, root("other", cidr), usecase.Request{})
			e := refused(t, err, ipam.CodeOverlap)
			require.Equal(t, []string{"acme/net"}, e.Figures.ConflictsWith)
			require.Equal(t, "/spec/cidr", e.Fields[0].Pointer)
			require.Equal(t, before, b.dump(t))
		})
	}
	require.Equal(t, block("10.1.0.0/16"), b.pool(t, root("beside", "10.1.0.0/16")).Block, "a neighbour does not overlap")
	twin := b.pool(t, root("twin", "10.0.0.0/16", inSpace("blue")))
	require.Equal(t, ref("blue"), twin.Space)
	one, other := b.claim(t, claim("one", "net", 24, exactly24)), b.claim(t, claim("other", "twin", 24, exactly24))
	require.Equal(t, one.Block, other.Block, "two spaces may repeat addresses")

	_, err = b.CreateProject(b.ctx, ipam.Project{Metadata: meta("umbrella")}, usecase.Request{})
	require.NoError(t, err)
	_, err = b.CreatePool(b.ctx, "umbrella", root("net", "10.0.0.0/8"), usecase.Request{})
	require.NoError(t, err, "each project has a default space of its own")
}

func exactly24(c *ipam.Claim) { c.Spec.CIDR = block("10.0.7.0/24") }

func TestOverlapNamesTheEnclosingPool(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("wide", "10.0.0.0/8"))
	b.pool(t, root("wide6", "2001:db8::/32"))
	for name, cidr := range map[string]string{"wide": "10.200.0.0/16", "wide6": "2001:db8:ff::/48"} {
		_, err := b.CreatePool(b.ctx, project, root("inner", cidr), usecase.Request{})
		require.Equal(t, []string{project + "/" + name}, refused(t, err, ipam.CodeOverlap).Figures.ConflictsWith)
	}
}

func TestBoundsAreEnforcedOnEveryCarve(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16", bounds(24, 28), byDefault(26)))
	rejected := func(t *testing.T, err error, pointer string) {
		t.Helper()
		e := refused(t, err, ipam.CodePrefixLengthRejected)
		require.Equal(t, []int{24, 28}, []int{*e.Figures.AllowedMin, *e.Figures.AllowedMax})
		require.Equal(t, pointer, e.Fields[0].Pointer)
	}
	for _, bits := range []int{16, 23, 29, 32} {
		cidr := fmt.Sprintf("10.0.0.0/%d", bits)
		t.Run(cidr, func(t *testing.T) {
			_, err := b.CreateClaim(b.ctx, project, claim("c", "net", bits), usecase.Request{})
			rejected(t, err, "/spec/prefixLength")
			_, err = b.CreateClaim(b.ctx, project, claimOf("c", "net", exactly(cidr)), usecase.Request{})
			rejected(t, err, "/spec/cidr")
			_, err = b.CreatePool(b.ctx, project, child("p", "net", bits), usecase.Request{})
			rejected(t, err, "/spec/prefixLength")
			_, err = b.CreatePool(b.ctx, project, childAt("p", "net", cidr), usecase.Request{})
			rejected(t, err, "/spec/cidr")
			_, err = b.CreateClaimBatch(b.ctx, project, []ipam.Claim{claim("ok", "net", 24), claim("c", "net", bits)}, usecase.Request{})
			rejected(t, err, "/claims/1/spec/prefixLength")
		})
	}
	_, err := b.CreateClaim(b.ctx, project, claimOf("c", "net", hostAddress("10.0.0.1")), usecase.Request{})
	rejected(t, err, "/spec/address")
	require.Equal(t, "65536", b.available(t, "net"))

	require.Equal(t, 24, b.claim(t, claim("largest", "net", 24)).Block.Bits())
	require.Equal(t, 28, b.claim(t, claim("smallest", "net", 28)).Block.Bits())
	require.Equal(t, 26, b.claim(t, claimOf("default", "net")).Block.Bits())
	require.Equal(t, 25, b.pool(t, child("pool", "net", 25)).Block.Bits())
}

func TestInvalidAllocationPolicyIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, c := range []struct {
		name    string
		pool    ipam.Pool
		pointer string
	}{
		{"MinShorterThanThePool", root("net", "10.0.0.0/16", bounds(15, 24)), "/spec/allocation/minPrefixLength"},
		{"MaxLongerThanAnAddress", root("net", "10.0.0.0/16", bounds(16, 33)), "/spec/allocation/maxPrefixLength"},
		{"MinLongerThanMax", root("net", "10.0.0.0/16", bounds(25, 24)), "/spec/allocation/minPrefixLength"},
		{"DefaultOutsideOfBounds", root("net", "10.0.0.0/16", bounds(24, 28), byDefault(29)), "/spec/allocation/defaultPrefixLength"},
		{"DefaultLargerThanThePool", root("net", "10.0.0.0/16", byDefault(8)), "/spec/allocation/defaultPrefixLength"},
		{"NoStrategy", root("net", "10.0.0.0/16", strategy("")), "/spec/allocation/strategy"},
		{"LengthsOfIPv6InIPv4", root("net", "10.0.0.0/16", byDefault(64)), "/spec/allocation/defaultPrefixLength"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := b.CreatePool(b.ctx, project, c.pool, usecase.Request{})
			require.Equal(t, c.pointer, refused(t, err, ipam.CodeInvalidArgument).Fields[0].Pointer)
		})
	}
}

func TestMissingReferenceIsNamedInTheRefusal(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	_, err := b.CreateProject(b.ctx, ipam.Project{Metadata: meta("umbrella")}, usecase.Request{})
	require.NoError(t, err)
	foreign := func(p *ipam.Pool) { p.Spec.Parent.Project = "umbrella" }
	foreignSpace := func(p *ipam.Pool) { p.Spec.Space = ipam.Ref{Project: "umbrella", Name: "default"} }
	for _, c := range []struct {
		name    string
		pool    ipam.Pool
		pointer string
	}{
		{"Parent", child("p", "none", 24), "/spec/parentRef/name"},
		{"Space", root("p", "10.0.0.0/8", inSpace("none")), "/spec/spaceRef/name"},
		{"ParentOfAnotherProject", child("p", "net", 24, foreign), "/spec/parentRef"},
		{"SpaceOfAnotherProject", root("p", "10.0.0.0/8", foreignSpace), "/spec/spaceRef"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := b.CreatePool(b.ctx, project, c.pool, usecase.Request{})
			require.Equal(t, c.pointer, refused(t, err, ipam.CodeNotFound).Fields[0].Pointer)
		})
	}
	_, err = b.CreatePool(b.ctx, "nobody", root("p", "10.0.0.0/8"), usecase.Request{})
	refused(t, err, ipam.CodeNotFound)
}

func TestPoolNameIsUniqueInItsProject(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	before := b.dump(t)
	_, err := b.CreatePool(b.ctx, project, root("net", "10.1.0.0/16"), usecase.Request{})
	require.Equal(t, "/metadata/name", refused(t, err, ipam.CodeAlreadyExists).Fields[0].Pointer)
	require.Equal(t, before, b.dump(t))
	require.NoError(t, b.EnsurePlatform(b.ctx), "a second start finds it")
	_, err = b.CreatePool(b.ctx, ipam.PlatformProject, root("net", "10.1.0.0/16"), usecase.Request{})
	require.NoError(t, err)
}

func TestChildPoolIsRefusedIfItsParentIsTooSmallOrFull(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	_, err := b.CreatePool(b.ctx, project, child("p", "net", 16), usecase.Request{})
	e := refused(t, err, ipam.CodeNeverSatisfiable)
	require.Equal(t, 16, *e.Figures.WantedPrefixLength)
	b.pool(t, child("half", "net", 25))
	b.pool(t, child("quarter", "net", 26))
	_, err = b.CreatePool(b.ctx, project, child("p", "net", 25), usecase.Request{})
	e = refused(t, err, ipam.CodePoolExhausted)
	require.Equal(t, []int{25, 26}, []int{*e.Figures.WantedPrefixLength, *e.Figures.LargestFreePrefixLength})
	require.Equal(t, "64", e.Figures.AvailableAddresses)
	require.Equal(t, []string{"acme/net"}, e.Figures.PoolsTried)
}
