package alloc_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/ipam"
)

func TestPutCreatesOrReturns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/30"))
	want := claim("c", "net", 32, withLabels("a", "b"))
	first, err := b.PutClaim(b.ctx, project, want, alloc.Request{})
	require.NoError(t, err)
	require.False(t, first.Existed)
	for _, name := range []string{"d", "e", "f"} {
		b.claim(t, claim(name, "net", 32))
	}
	before := b.dump(t)
	b.clock.move(time.Minute)
	second, err := b.PutClaim(b.ctx, project, want, alloc.Request{})
	require.NoError(t, err, "though the pool is full by now")
	require.True(t, second.Existed)
	require.Equal(t, first.Value, second.Value)
	require.Equal(t, before, b.dump(t))
}

func TestPutOfAnotherSpecNamesWhatDiffers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	b.pool(t, root("other", "10.1.0.0/24", labelled("x", "y")))
	made := b.claim(t, claim("c", "net", 32, withLabels("a", "b")))
	kept := b.claim(t, claim("kept", "net", 32, retain))
	b.release(t, "kept")
	before := b.dump(t)
	ab := withLabels("a", "b")
	for _, c := range []struct {
		name   string
		claim  ipam.Claim
		differ []string
	}{
		{"Length", claim("c", "net", 31, ab), []string{"/spec/prefixLength"}},
		{"NoLength", claimOf("c", "net", ab), []string{"/spec/prefixLength"}},
		{"Pool", claim("c", "other", 32, ab), []string{"/spec/poolRef"}},
		{"Selector", selecting("c", matching("x", "y"), length(32), ab), []string{"/spec/poolRef", "/spec/poolSelector"}},
		{"Allocation", again("c", kept.AllocationID, ab), []string{"/spec/poolRef", "/spec/allocationRef", "/spec/prefixLength"}},
		{"Family", claim("c", "net", 32, ab, family(ipam.IPv4)), []string{"/spec/ipFamily"}},
		{"Block", claim("c", "net", 32, ab, exactly(made.Block.String())), []string{"/spec/cidr"}},
		{"Address", claim("c", "net", 32, ab, hostAddress(made.Block.Addr().String())), []string{"/spec/address"}},
		{"Policy", claim("c", "net", 32, ab, retain), []string{"/spec/reclaimPolicy"}},
		{"Owner", claim("c", "net", 32, ab, func(c *ipam.Claim) { c.Spec.OwnerRef = &ipam.OwnerRef{Kind: "VM"} }), []string{"/spec/ownerRef"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := b.PutClaim(b.ctx, project, c.claim, alloc.Request{})
			var pointers []string
			for _, f := range refused(t, err, ipam.CodeAlreadyExists).Fields {
				pointers = append(pointers, f.Pointer)
			}
			require.Equal(t, c.differ, pointers)
		})
	}
	require.Equal(t, before, b.dump(t))
}

func TestPutReturnsWhateverOthersHaveLabelledIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	b.claim(t, claim("c", "net", 32, withLabels("a", "b")))
	now, err := b.patchClaim("c", alloc.Request{}, withLabels("c", "d"))
	require.NoError(t, err)
	got, err := b.PutClaim(b.ctx, project, claim("c", "net", 32, withLabels("a", "b")), alloc.Request{})
	require.NoError(t, err)
	require.True(t, got.Existed)
	require.Equal(t, now, got.Value, "as it is, and not as it was asked for")
}

func TestPutOfARetainedAllocationReturnsToo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	kept := b.claim(t, claim("kept", "net", 32, retain))
	b.release(t, "kept")
	first, err := b.PutClaim(b.ctx, project, again("c", kept.AllocationID), alloc.Request{})
	require.NoError(t, err)
	second, err := b.PutClaim(b.ctx, project, again("c", kept.AllocationID), alloc.Request{})
	require.NoError(t, err)
	require.True(t, second.Existed)
	require.Equal(t, first.Value, second.Value)
}

func TestPutThatIsRefusedLeavesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/32"))
	b.claim(t, claim("all", "net", 32))
	before := b.dump(t)
	_, err := b.PutClaim(b.ctx, project, claim("c", "net", 32), alloc.Request{})
	refused(t, err, ipam.CodePoolExhausted)
	require.Equal(t, before, b.dump(t))
}
