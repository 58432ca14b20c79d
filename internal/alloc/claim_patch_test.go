package alloc_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (b *bundle) patchClaim(name string, r usecase.Request, change func(*ipam.Claim)) (ipam.Claim, error) {
	return b.PatchClaim(b.ctx, project, name, r, func(c ipam.Claim) (ipam.Claim, error) {
		change(&c)
		return c, nil
	})
}

func TestPatchOfAClaimChangesLabelsAndPolicy(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	was := b.claim(t, claim("c", "net", 28))
	b.clock.move(time.Minute)

	labelled, err := b.patchClaim("c", usecase.Request{}, withLabels("a", "b"))
	require.NoError(t, err)
	require.Equal(t, labels("a", "b"), labelled.Labels)
	require.Equal(t, was.Generation, labelled.Generation)
	require.NotEqual(t, was.Revision, labelled.Revision)
	require.Equal(t, b.clock.read(), labelled.UpdatedAt)

	kept, err := b.patchClaim("c", usecase.Request{}, retain)
	require.NoError(t, err)
	require.Equal(t, was.Generation+1, kept.Generation)
	require.Equal(t, labels("a", "b"), kept.Labels)
	read, err := b.GetClaim(b.ctx, project, "c", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, kept, read)
	a, err := b.GetAllocation(b.ctx, project, was.AllocationID.String(), usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, ipam.ReclaimRetain, a.ReclaimPolicy, "the allocation follows")

	b.release(t, "c")
	a, err = b.GetAllocation(b.ctx, project, was.AllocationID.String(), usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, ipam.PhaseRetained, a.Phase, "the policy of now decides")
}

func TestPatchFromRetainToDeleteFreesTheBlockOnRelease(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	b.claim(t, claim("c", "net", 28, retain))
	_, err := b.patchClaim("c", usecase.Request{}, func(c *ipam.Claim) { c.Spec.ReclaimPolicy = ipam.ReclaimDelete })
	require.NoError(t, err)
	b.release(t, "c")
	require.Equal(t, "256", b.available(t, "net"))
}

func TestUnchangedPatchOfAClaimWritesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	was := b.claim(t, claim("c", "net", 28, withLabels("a", "b")))
	before := b.dump(t)
	b.clock.move(time.Minute)
	for name, change := range map[string]func(*ipam.Claim){
		"Nothing":      func(*ipam.Claim) {},
		"SameValues":   withLabels("a", "b"),
		"EmptyForNil":  func(c *ipam.Claim) { c.Annotations = map[string]string{} },
		"ServerFields": func(c *ipam.Claim) { c.Block, c.UID = block("10.9.9.9/32"), ipam.NewID() },
	} {
		t.Run(name, func(t *testing.T) {
			now, err := b.patchClaim("c", usecase.Request{}, change)
			require.NoError(t, err)
			require.Equal(t, was, now)
			require.Equal(t, before, b.dump(t))
		})
	}
	_, err := b.patchClaim("c", usecase.Request{}, withLabels("a", "not a value"))
	refused(t, err, ipam.CodeInvalidArgument)
	_, err = b.patchClaim("c", usecase.Request{}, func(c *ipam.Claim) { c.Spec.ReclaimPolicy = "Keep" })
	refused(t, err, ipam.CodeInvalidArgument)
	_, err = b.patchClaim("none", usecase.Request{}, withLabels("a", "b"))
	refused(t, err, ipam.CodeNotFound)
	require.Equal(t, before, b.dump(t))
}
