package alloc_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

func TestReleaseWithDeletePolicyFreesTheBlockAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	empty := state(b.dump(t))
	made := b.claim(t, claim("c", "net", 26))
	b.release(t, "c")
	require.Equal(t, empty, state(b.dump(t)), "nothing is left of it")
	_, err := b.GetAllocation(b.ctx, project, made.AllocationID.String(), usecase.Reading{})
	refused(t, err, ipam.CodeNotFound)
	refused(t, b.DeleteClaim(b.ctx, project, "c", usecase.Request{}), ipam.CodeNotFound)
}

func TestReleaseWithRetainPolicyKeepsTheAllocation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	made := b.claim(t, claim("c", "net", 26, retain))
	b.clock.move(time.Minute)
	b.release(t, "c")
	_, err := b.GetClaim(b.ctx, project, "c", usecase.Reading{})
	refused(t, err, ipam.CodeNotFound)
	kept, err := b.GetAllocation(b.ctx, project, made.AllocationID.String(), usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, ipam.PhaseRetained, kept.Phase)
	require.Equal(t, ref("c"), kept.Holder, "whose it was")
	require.Equal(t, made.Block, kept.Block)
	require.NotEqual(t, made.Revision, kept.Revision)
	require.Equal(t, b.clock.read(), kept.UpdatedAt)
	require.Equal(t, "192", b.available(t, "net"))

	t.Run("ItsBlockIsNotHandedOut", func(t *testing.T) {
		e := b.refuseClaim(t, claimOf("c", "net", exactly(made.Block.String())), ipam.CodeAllocationRetained)
		require.Contains(t, e.Message, kept.ID.String(), "which allocation to name instead")
		b.refuseClaim(t, claimOf("c", "net", hostAddress("10.0.0.1")), ipam.CodeBlockTaken)
		b.refuseClaim(t, claimOf("c", "net", exactly("10.0.0.0/25")), ipam.CodeBlockTaken)
		_, err := b.CreatePool(b.ctx, project, childAt("p", "net", made.Block.String()), usecase.Request{})
		e = refused(t, err, ipam.CodeAllocationRetained)
		require.Equal(t, "/spec/cidr", e.Fields[0].Pointer)
	})
	t.Run("ItCanBeDeleted", func(t *testing.T) {
		require.NoError(t, b.DeleteAllocation(b.ctx, project, kept.ID.String(), usecase.Request{}))
		require.Equal(t, []string{"10.0.0.0/24"}, b.free(t, "net"))
		refused(t, b.DeleteAllocation(b.ctx, project, kept.ID.String(), usecase.Request{}), ipam.CodeNotFound)
	})
}

func TestRetainedBlockIsReboundByItsAllocation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	first := b.claim(t, claim("c", "net", 26, retain))
	b.release(t, "c")
	b.clock.move(time.Minute)
	owner := &ipam.OwnerRef{Kind: "VM"}
	second := b.claim(t, again("other-name", first.AllocationID, func(c *ipam.Claim) { c.Spec.OwnerRef = owner }))
	require.Equal(t, first.Block, second.Block)
	require.Equal(t, first.AllocationID, second.AllocationID, "it is the same allocation")
	require.Equal(t, ref("net"), second.Pool)
	require.NotEqual(t, first.UID, second.UID)
	read, err := b.GetClaim(b.ctx, project, "other-name", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, second, read)
	a, err := b.GetAllocation(b.ctx, project, first.AllocationID.String(), usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, ipam.PhaseBound, a.Phase)
	require.Equal(t, ref("other-name"), a.Holder)
	require.Equal(t, owner, a.OwnerRef)
	require.Equal(t, ipam.ReclaimDelete, a.ReclaimPolicy)

	b.refuseClaim(t, again("third", first.AllocationID), ipam.CodeInUse)
	b.release(t, "other-name")
	require.Equal(t, "256", b.available(t, "net"), "under its new policy the block is free again")
	b.refuseClaim(t, again("fourth", first.AllocationID), ipam.CodeNotFound)
}

// If one claim sets Retain, its block stays retained each time that a later claim binds and releases it. The policy of the class and the default
// policy do not change that.
func TestRetainedBlockStaysRetainedOverEachRebuild(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, project, class("vips", reclaiming(ipam.ReclaimDelete)))
	b.pool(t, root("net", "10.0.0.0/24", backing("vips")))
	for name, first := range map[string]ipam.Claim{
		"OfAPool":                  claim("of-pool", "net", 32, retain),
		"OfAClassWithDeletePolicy": byClass("of-class", "vips", length(32), retain),
	} {
		t.Run(name, func(t *testing.T) {
			kept := b.claim(t, first)
			b.release(t, kept.Name)
			silent := func(c *ipam.Claim) { c.Spec.ReclaimPolicy = "" }
			for _, rebuild := range []string{"first", "second"} {
				explained, err := b.ExplainClaim(b.ctx, project, again("", kept.AllocationID, silent))
				require.NoError(t, err)
				require.Equal(t, ipam.ReclaimRetain, explained.Claim.ReclaimPolicy)
				bound := b.claim(t, again(first.Name+"-"+rebuild, kept.AllocationID, silent))
				require.Equal(t, kept.Block, bound.Block, rebuild)
				require.Equal(t, ipam.ReclaimRetain, bound.ReclaimPolicy, rebuild)
				require.Empty(t, bound.Spec.ReclaimPolicy, "what the claim said is answered as it was written")
				b.release(t, bound.Name)
				b.refuseClaim(t, claimOf("thief", "net", exactly(kept.Block.String())), ipam.CodeAllocationRetained)
			}
			last := b.claim(t, again(first.Name+"-last", kept.AllocationID, func(c *ipam.Claim) { c.Spec.ReclaimPolicy = ipam.ReclaimDelete }))
			require.Equal(t, ipam.ReclaimDelete, last.ReclaimPolicy, "the claim's own word comes first")
		})
	}
}

func TestRebindOfAnUnsuitableAllocationIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24", reserving(ipam.Reservation{First: 1})))
	b.pool(t, child("sub", "net", 26))
	all, err := b.ListAllocations(b.ctx, project, paging.Filter{}, 100, "", usecase.Reading{})
	require.NoError(t, err)
	require.Len(t, all.Items, 2)
	for _, a := range all.Items {
		e := b.refuseClaim(t, again("c", a.ID), ipam.CodeNotFound)
		require.Equal(t, "/spec/allocationRef/name", e.Fields[0].Pointer, "%s is no claim's", a.Purpose)
	}
	b.refuseClaim(t, again("c", ipam.NewID()), ipam.CodeNotFound)
	b.refuseClaim(t, claimOf("c", "", func(c *ipam.Claim) { c.Spec.PoolRef, c.Spec.AllocationRef = ipam.Ref{}, "not-an-id" }), ipam.CodeInvalidArgument)

	made := b.claim(t, claim("kept", "net", 28, retain))
	b.release(t, "kept")
	_, err = b.CreateProject(b.ctx, ipam.Project{Metadata: meta("umbrella")}, usecase.Request{})
	require.NoError(t, err)
	_, err = b.CreateClaim(b.ctx, "umbrella", again("c", made.AllocationID), usecase.Request{})
	refused(t, err, ipam.CodeNotFound) // the server hides another project's allocation
	_, err = b.CreateClaimBatch(b.ctx, project, []ipam.Claim{again("c", made.AllocationID)}, usecase.Request{})
	require.Equal(t, "/claims/0/spec/allocationRef", refused(t, err, ipam.CodeInvalidArgument).Fields[0].Pointer)
}

func TestBoundAllocationCannotBeDeleted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24", reserving(ipam.Reservation{First: 1})))
	b.pool(t, child("sub", "net", 26))
	b.claim(t, claim("c", "net", 28))
	before := b.dump(t)
	all, err := b.ListAllocations(b.ctx, project, paging.Filter{}, 100, "", usecase.Reading{})
	require.NoError(t, err)
	purposes := map[ipam.Purpose]string{ipam.PurposeClaim: "claim acme/c", ipam.PurposeChildPool: "pool acme/sub", ipam.PurposeReservation: "reservation"}
	require.Len(t, all.Items, len(purposes))
	for _, a := range all.Items {
		e := refused(t, b.DeleteAllocation(b.ctx, project, a.ID.String(), usecase.Request{}), ipam.CodeInUse)
		require.Contains(t, e.Message, purposes[a.Purpose], "what to delete instead")
	}
	refused(t, b.DeleteAllocation(b.ctx, project, ipam.NewID().String(), usecase.Request{}), ipam.CodeNotFound)
	refused(t, b.DeleteAllocation(b.ctx, project, "not-an-id", usecase.Request{}), ipam.CodeNotFound)
	_, err = b.GetAllocation(b.ctx, project, "not-an-id", usecase.Reading{})
	refused(t, err, ipam.CodeNotFound)
	require.Equal(t, before, b.dump(t))
}

func TestAllocationsOfAnotherProjectAreNotFound(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	made := b.claim(t, claim("c", "net", 28))
	_, err := b.CreateProject(b.ctx, ipam.Project{Metadata: meta("umbrella")}, usecase.Request{})
	require.NoError(t, err)
	_, err = b.GetAllocation(b.ctx, "umbrella", made.AllocationID.String(), usecase.Reading{})
	refused(t, err, ipam.CodeNotFound)
	refused(t, b.DeleteAllocation(b.ctx, "umbrella", made.AllocationID.String(), usecase.Request{}), ipam.CodeNotFound)
	_, err = b.GetClaim(b.ctx, "umbrella", "c", usecase.Reading{})
	refused(t, err, ipam.CodeNotFound)
	refused(t, b.DeleteClaim(b.ctx, "umbrella", "c", usecase.Request{}), ipam.CodeNotFound)
	_, err = b.GetPool(b.ctx, "umbrella", "net", usecase.Reading{})
	refused(t, err, ipam.CodeNotFound)
	refused(t, b.DeletePool(b.ctx, "umbrella", "net", usecase.Request{}), ipam.CodeNotFound)
}
