package alloc_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

func TestPutCreatesAClaimOrReturnsTheExistingOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/30"))
	want := claim("c", "net", 32, withLabels("a", "b"))
	first, err := b.PutClaim(b.ctx, project, want, usecase.Request{})
	require.NoError(t, err)
	require.False(t, first.Existed)
	for _, name := range []string{"d", "e", "f"} {
		b.claim(t, claim(name, "net", 32))
	}
	before := b.dump(t)
	b.clock.move(time.Minute)
	second, err := b.PutClaim(b.ctx, project, want, usecase.Request{})
	require.NoError(t, err, "though the pool is full by now")
	require.True(t, second.Existed)
	require.Equal(t, first.Value, second.Value)
	require.Equal(t, before, b.dump(t))
}

func TestPutWithAnotherSpecNamesTheDifferences(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	b.pool(t, root("other", "10.1.0.0/24", labelled("x", "y")))
	made := b.claim(t, claim("c", "net", 32, withLabels("a", "b"), ownedBy("VM", "a")))
	kept := b.claim(t, claim("kept", "net", 32, retain))
	b.release(t, "kept")
	before := b.dump(t)
	ab := withLabels("a", "b")
	for _, c := range []struct {
		name   string
		claim  ipam.Claim
		differ []string
	}{
		{"Length", claim("c", "net", 31, ab), []string{"/spec/prefixLength is /32 in the existing claim; the request asks for /31."}},
		{"NoLength", claimOf("c", "net", ab), []string{"/spec/prefixLength is /32 in the existing claim; the request does not set it."}},
		{"Pool", claim("c", "other", 32, ab), []string{"/spec/poolRef is acme/net in the existing claim; the request asks for acme/other."}},
		{"Class", byClass("c", "std", length(32), ab), []string{"/spec/className is not set in the existing claim; the request asks for std.", "/spec/poolRef is acme/net in the existing claim; the request does not set it."}},
		{"Selector", selecting("c", matching("x", "y"), length(32), ab), []string{
			"/spec/poolRef is acme/net in the existing claim; the request does not set it.", "/spec/poolSelector is not set in the existing claim; the request asks for another selector.",
		}},
		{"Allocation", again("c", kept.AllocationID, ab), []string{
			"/spec/poolRef is acme/net in the existing claim; the request does not set it.", "/spec/allocationRef is not set in the existing claim; the request asks for " + kept.AllocationID.String() + ".",
		}},
		{"Family", claimOf("c", "net", ab, length(32), family(ipam.IPv6)), []string{"/spec/ipFamily is IPv4 in the existing claim; the request asks for IPv6."}},
		{"Block", claimOf("c", "net", ab, exactly("10.0.0.128/32")), []string{"/spec/cidr is " + made.Block.String() + " in the existing claim; the request asks for 10.0.0.128/32."}},
		{"Address", claimOf("c", "net", ab, hostAddress("10.0.0.128")), []string{"/spec/address is " + made.Block.String() + " in the existing claim; the request asks for 10.0.0.128/32."}},
		{"Policy", claim("c", "net", 32, ab, retain), []string{"/spec/reclaimPolicy is Delete in the existing claim; the request asks for Retain."}},
		{"Owner", claim("c", "net", 32, ab, ownedBy("VM", "b")), []string{"/spec/ownerRef is VM/a in the existing claim; the request asks for VM/b."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := b.PutClaim(b.ctx, project, c.claim, usecase.Request{})
			e := refused(t, err, ipam.CodeAlreadyExists)
			var differ []string
			for _, f := range e.Fields {
				differ = append(differ, f.Pointer+" "+f.Detail)
			}
			require.Equal(t, c.differ, differ)
			require.NotContains(t, e.Message, "delete", "its addresses may be in use")
		})
	}
	require.Equal(t, before, b.dump(t))
}

func ownedBy(kind, name string) claimOption {
	return func(c *ipam.Claim) { c.Spec.OwnerRef = &ipam.OwnerRef{Kind: kind, Name: name} }
}

// If the body of a PUT differs from the claim only in spelling and not in meaning, the PUT changes nothing.
func TestPutComparesMeaningNotSpelling(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24", func(p *ipam.Pool) { p.Spec.Allocation.DefaultPrefixLength = new(28) }))
	b.class(t, project, class("std", defaultClass))
	b.pool(t, root("backing", "10.1.0.0/24", backing("std"), func(p *ipam.Pool) { p.Spec.Allocation.DefaultPrefixLength = new(28) }))
	plain := b.claim(t, claimOf("plain", "net"))
	b.claim(t, claim("length", "net", 28))
	host := b.claim(t, claimOf("host", "net", exactly("10.0.0.240/32")))
	b.claim(t, byClass("default", ""))
	b.claim(t, claimOf("owner", "net", ownedBy("VM", "a")))
	block := plain.Block.String()
	for name, c := range map[string]ipam.Claim{
		"LengthOfTheDefault":   claim("plain", "net", 28),
		"Family":               claimOf("plain", "net", family(ipam.IPv4)),
		"TheBlockItGot":        claimOf("plain", "net", exactly(block)),
		"FamilyAndLength":      claim("length", "net", 28, family(ipam.IPv4)),
		"AddressOfABlock":      claimOf("host", "net", hostAddress(host.Block.Addr().String())),
		"LengthOfABlock":       claim("host", "net", 32),
		"Policy":               claimOf("plain", "net", func(c *ipam.Claim) { c.Spec.ReclaimPolicy = ipam.ReclaimDelete }),
		"TheDefaultClassNamed": byClass("default", "std"),
		"TheFamilyOfTheClass":  byClass("default", "", family(ipam.IPv4)),
		"WithoutAnOwner":       claimOf("owner", "net"),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := b.PutClaim(b.ctx, project, c, usecase.Request{})
			require.NoError(t, err)
			require.True(t, got.Existed)
		})
	}
}

func TestPutReturnsAClaimWithChangedLabels(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	b.claim(t, claim("c", "net", 32, withLabels("a", "b")))
	now, err := b.patchClaim("c", usecase.Request{}, withLabels("c", "d"))
	require.NoError(t, err)
	got, err := b.PutClaim(b.ctx, project, claim("c", "net", 32, withLabels("a", "b")), usecase.Request{})
	require.NoError(t, err)
	require.True(t, got.Existed)
	require.Equal(t, now, got.Value, "as it is, and not as it was asked for")
}

func TestRepeatedPutOfARebindReturnsTheClaim(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	kept := b.claim(t, claim("kept", "net", 32, retain))
	b.release(t, "kept")
	first, err := b.PutClaim(b.ctx, project, again("c", kept.AllocationID), usecase.Request{})
	require.NoError(t, err)
	second, err := b.PutClaim(b.ctx, project, again("c", kept.AllocationID), usecase.Request{})
	require.NoError(t, err)
	require.True(t, second.Existed)
	require.Equal(t, first.Value, second.Value)
}

func TestRefusedPutWritesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/32"))
	b.claim(t, claim("all", "net", 32))
	before := b.dump(t)
	_, err := b.PutClaim(b.ctx, project, claim("c", "net", 32), usecase.Request{})
	refused(t, err, ipam.CodePoolExhausted)
	require.Equal(t, before, b.dump(t))
}
