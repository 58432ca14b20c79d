package alloc_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// setupCooling makes a bundle with a pool of the provider. The project has claimed a block from this pool and released it, so the block cools down.
func setupCooling(t *testing.T, options ...claimOption) (*bundle, ipam.Claim) {
	t.Helper()
	b := setupProvider(t, coolsDown(time.Hour))
	b.grant(t, "net", project)
	c := b.claim(t, claim("c", "net", 28, append([]claimOption{offered}, options...)...))
	b.release(t, "c")
	return b, c
}

func TestPoolOwnerEndsACooldown(t *testing.T) {
	t.Parallel()
	b, c := setupCooling(t)
	name := c.AllocationID.String()
	t.Run("FormerHolderDoesNotSeeIt", func(t *testing.T) {
		_, err := b.GetAllocation(b.ctx, project, name, usecase.Reading{})
		missing := refused(t, err, ipam.CodeNotFound)
		_, err = b.GetAllocation(b.ctx, project, ipam.NewID().String(), usecase.Reading{})
		require.Len(t, refused(t, err, ipam.CodeNotFound).Message, len(missing.Message), "as if it were not there")
		refused(t, b.DeleteAllocation(b.ctx, project, name, usecase.Request{}), ipam.CodeNotFound)
		b.refuseClaim(t, again("back", c.AllocationID), ipam.CodeNotFound)
	})
	t.Run("OwnerSeesTheBlockButNotItsHolder", func(t *testing.T) {
		a, err := b.GetAllocation(b.ctx, provider, name, usecase.Reading{})
		require.NoError(t, err)
		require.Equal(t, ipam.PhaseCoolingDown, a.Phase)
		require.Equal(t, c.Block, a.Block)
		require.Equal(t, b.clock.read().Add(time.Hour), a.CoolUntil)
		require.Empty(t, a.Holder.Name)
		require.Empty(t, a.CreatedBy)
	})
	t.Run("DryRunWritesNothing", func(t *testing.T) {
		before := b.dump(t)
		require.NoError(t, b.DeleteAllocation(b.ctx, provider, name, dry))
		require.Equal(t, before, b.dump(t))
	})
	before := b.dump(t)
	require.NoError(t, b.DeleteAllocation(b.ctx, provider, name, usecase.Request{}))
	after := b.dump(t)
	require.Equal(t, before["history"], after["history"], "nobody held it")
	require.Len(t, after["audit_events"], len(before["audit_events"])+1)
	event := b.events(t, provider, trail.EventFilter{Kind: "IPAllocation"})
	require.Len(t, event, 1)
	require.Equal(t, name, event[0].Name)
	require.JSONEq(t, `{"allocatedCIDR":"`+c.Block.String()+`","poolRef":{"project":"umbrella","name":"net"},"phase":"CoolingDown"}`, string(event[0].Before))
	require.Equal(t, [2]string{"256", "0"}, b.figures(t, provider, "net"))
	refused(t, b.DeleteAllocation(b.ctx, provider, name, usecase.Request{}), ipam.CodeNotFound)
	b.clock.move(2 * time.Hour)
	b.freed(t, 0)
}

func TestEndingACooldownChecksPreconditionAndRole(t *testing.T) {
	t.Parallel()
	b, c := setupCooling(t)
	name := c.AllocationID.String()
	stale := usecase.Request{IfMatch: usecase.Match{Revisions: []string{c.Revision.String()}}}
	refused(t, b.DeleteAllocation(b.ctx, provider, name, stale), ipam.CodePreconditionFailed)
	refused(t, b.DeleteAllocation(b.acting("corp:reader", tenancy.Viewer, provider), provider, name, usecase.Request{}), ipam.CodePermissionDenied)
	a, err := b.GetAllocation(b.ctx, provider, name, usecase.Reading{})
	require.NoError(t, err)
	read := usecase.Request{IfMatch: usecase.Match{Revisions: []string{a.Revision.String()}}}
	require.NoError(t, b.DeleteAllocation(b.ctx, provider, name, read))
}

// A holder must not shorten a cool-down. So a block that the holder first retains and returns later cools down too.
func TestRetainedBlockReturnedByItsHolderCoolsDown(t *testing.T) {
	t.Parallel()
	b, c := setupCooling(t, retain)
	begun := b.clock.read()
	b.set(t, quota("q", maxAddresses(1000)))
	name := c.AllocationID.String()
	require.Equal(t, [3]string{"16", "0", "0"}, b.usage(t, "q"))
	b.clock.move(time.Minute)
	require.NoError(t, b.DeleteAllocation(b.ctx, project, name, usecase.Request{}))
	require.Equal(t, [2]string{"240", "16"}, b.figures(t, provider, "net"))
	require.Equal(t, [3]string{"0", "0", "0"}, b.usage(t, "q"), "it counts no more")
	require.Equal(t, []string{c.Block.String() + " Claim acme/ Retained 0-1", c.Block.String() + " Claim acme/ Bound 0-0"},
		b.past(b.ctx, t, provider, c.Block.Addr().String(), begun, -1, 10))
	auditClean(t, b.dsn)
	refused(t, b.DeleteAllocation(b.ctx, project, name, usecase.Request{}), ipam.CodeNotFound)
	b.clock.move(time.Hour)
	b.freed(t, 1)
	require.Equal(t, [2]string{"256", "0"}, b.figures(t, provider, "net"))
}

func TestRetainedBlockReturnedByThePoolOwnerIsFreeAtOnce(t *testing.T) {
	t.Parallel()
	b, c := setupCooling(t, retain)
	require.NoError(t, b.DeleteAllocation(b.ctx, provider, c.AllocationID.String(), usecase.Request{}))
	require.Equal(t, [2]string{"256", "0"}, b.figures(t, provider, "net"))
}

func TestReturnOfABlockWithUnknownOutcomeCountsOnce(t *testing.T) {
	t.Parallel()
	for _, fault := range []fault{lostBefore, lostAfter, landsLate} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			b, c := setupCooling(t, retain)
			store, _ := b.store(t)
			f := &faulty{Store: store}
			s := b.serve(f)
			f.next(fault)
			require.NoError(t, s.DeleteAllocation(b.ctx, project, c.AllocationID.String(), usecase.Request{}), "the holder")
			require.Equal(t, [2]string{"240", "16"}, b.figures(t, provider, "net"))
			f.next(fault)
			require.NoError(t, s.DeleteAllocation(b.ctx, provider, c.AllocationID.String(), usecase.Request{}), "the owner")
			require.Equal(t, [2]string{"256", "0"}, b.figures(t, provider, "net"))
		})
	}
}

func TestPoolWithCoolingBlocksIsNotDeleted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24", coolsDown(time.Hour), reserving(ipam.Reservation{First: 1})))
	first := b.claim(t, claim("first", "net", 28))
	b.claim(t, claim("second", "net", 28))
	b.release(t, "first")
	last := b.clock.read().Add(time.Minute + time.Hour)
	b.clock.move(time.Minute)
	b.release(t, "second")
	before := state(b.dump(t))
	e := refused(t, b.DeletePool(b.ctx, project, "net", usecase.Request{}), ipam.CodeInUse)
	require.Equal(t, "Pool acme/net cannot be deleted yet; nothing was changed. It has 2 blocks cooling down, the last of them until "+
		last.Format(time.RFC3339)+"; deleting an allocation ends its cool-down.", e.Message)
	require.Equal(t, last, e.Figures.CooledDownAt)
	require.Equal(t, before, state(b.dump(t)))
	b.claim(t, claim("third", "net", 28))
	e = refused(t, b.DeletePool(b.ctx, project, "net", usecase.Request{}), ipam.CodeInUse)
	require.Contains(t, e.Message, "1 claim, 0 retained allocations and 0 child pools")
	require.Contains(t, e.Message, "2 blocks cooling down")
	_, err := b.patchClaim("third", usecase.Request{}, retain)
	require.NoError(t, err)
	b.release(t, "third")
	e = refused(t, b.DeletePool(b.ctx, project, "net", usecase.Request{}), ipam.CodeAllocationRetained)
	require.Len(t, e.Figures.ConflictsWith, 1)
	require.NoError(t, b.DeleteAllocation(b.ctx, project, e.Figures.ConflictsWith[0][len(project)+1:], usecase.Request{}))
	require.NoError(t, b.DeleteAllocation(b.ctx, project, first.AllocationID.String(), usecase.Request{}))
	b.clock.move(time.Hour)
	b.freed(t, 1)
	require.NoError(t, b.DeletePool(b.ctx, project, "net", usecase.Request{}))
}
