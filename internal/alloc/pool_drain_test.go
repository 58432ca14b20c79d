package alloc_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/pools"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// drain starts or ends the draining of a pool.
func (b *bundle) drain(t testing.TB, in, name string, d ipam.Drain) ipam.Pool {
	t.Helper()
	p, err := b.PatchPool(b.ctx, in, name, usecase.Request{}, func(p ipam.Pool) (ipam.Pool, error) {
		p.Spec.Drain = d
		return p, nil
	})
	require.NoError(t, err)
	return p
}

// drained runs the job that deletes drained pools, and requires the number of pools that it deletes.
func (b *bundle) drained(t testing.TB, deleted int) {
	t.Helper()
	n, err := b.DeleteDrained(b.ctx, 100)
	require.NoError(t, err)
	require.Equal(t, deleted, n)
}

func TestDrainingPoolRefusesNewBlocks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, project, class("std"))
	b.class(t, project, class("alone"))
	b.class(t, project, class("per", poolPer(26)))
	b.pool(t, root("old", "10.0.0.0/16", backing("std", "alone", "per"), labelled("site", "a")))
	b.pool(t, root("new", "10.1.0.0/16", backing("std")))
	b.claim(t, claim("stays", "old", 24))
	b.claim(t, claim("kept", "old", 24, retain))
	b.release(t, "kept")
	require.Equal(t, "Draining", b.drain(t, project, "old", ipam.DrainKeep).Phase())
	before := b.dump(t)
	for name, c := range map[string]ipam.Claim{
		"ByPool": claim("c", "old", 24), "ByLabels": selecting("c", ipam.Selector{MatchLabels: labels("site", "a")}, length(24)),
		"ByClass": byClass("c", "alone", length(24)), "InANewScope": byClass("c", "per", length(28)), "ByBlock": claimOf("c", "old", exactly("10.0.9.0/24")),
	} {
		t.Run(name, func(t *testing.T) {
			e := b.refuseClaim(t, c, ipam.CodePoolDraining)
			_, err := b.CreateClaim(b.ctx, project, c, dry)
			require.Equal(t, e.Message, refused(t, err, ipam.CodePoolDraining).Message, "a dry run says the same")
			_, err = b.CreateClaimBatch(b.ctx, project, []ipam.Claim{c}, usecase.Request{})
			refused(t, err, ipam.CodePoolDraining)
			got, err := b.ExplainClaim(b.ctx, project, c)
			require.NoError(t, err)
			require.Equal(t, e.Message, got.Refusal.Message)
			require.NotEmpty(t, got.Remedies)
		})
	}
	t.Run("ChildPool", func(t *testing.T) {
		_, err := b.CreatePool(b.ctx, project, child("c", "old", 24), usecase.Request{})
		refused(t, err, ipam.CodePoolDraining)
	})
	require.Equal(t, state(before), state(b.dump(t)), "nothing was written")
	t.Run("ClassUsesOtherPoolsAndExplainsIt", func(t *testing.T) {
		got, err := b.ExplainClaim(b.ctx, project, byClass("c", "std", length(24)))
		require.NoError(t, err)
		require.Equal(t, ref("new"), got.Claim.Pool)
		require.Contains(t, got.Steps, ipam.Step{
			Kind: ipam.StepPool, Name: "acme/old", Outcome: ipam.OutcomeSkipped, Code: ipam.CodePoolDraining,
			Detail: "Pool acme/old is draining: it gives out no more blocks. Its allocations stay until they are released.",
		})
		require.Equal(t, ref("new"), b.claim(t, byClass("passed-over", "std", length(24))).Pool)
	})
	t.Run("HeldBlocksStayAndCanBeChanged", func(t *testing.T) {
		_, err := b.PatchClaim(b.ctx, project, "stays", usecase.Request{}, func(c ipam.Claim) (ipam.Claim, error) {
			c.Labels = labels("new", "1")
			return c, nil
		})
		require.NoError(t, err)
		kept := all(t, 10, func(n int, c string) (paging.Page[ipam.Allocation], error) {
			return b.ListAllocations(b.ctx, project, paging.Filter{Phase: string(ipam.PhaseRetained)}, n, c, usecase.Reading{})
		})
		b.claim(t, again("kept-again", kept[0].ID))
		b.release(t, "stays")
	})
	t.Run("UntilTheDrainEnds", func(t *testing.T) {
		b.drain(t, project, "old", "")
		b.claim(t, claim("c", "old", 24))
	})
}

// Another server has cached the pool, so it does not read the pool before a claim. The drain changes the pool's version, so that the claim's
// transaction detects the drain.
func TestDrainInvalidatesCachedPoolsOfOtherServers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	far, _ := b.server(t)
	b.class(t, project, class("std"))
	b.pool(t, root("net", "10.0.0.0/16", backing("std")))
	for i, c := range []ipam.Claim{claim("", "net", 28), byClass("", "std", length(28))} {
		for n := range 3 { // after the first claim, the server has cached the pool
			c.Name = fmt.Sprintf("c%d-%d", i, n)
			_, err := far.CreateClaim(b.ctx, project, c, usecase.Request{})
			require.NoError(t, err)
		}
		b.drain(t, project, "net", ipam.DrainKeep)
		c.Name = "late"
		_, err := far.CreateClaim(b.ctx, project, c, usecase.Request{})
		refused(t, err, ipam.CodePoolDraining)
		b.drain(t, project, "net", "")
		c.Name = fmt.Sprintf("c%d-after", i)
		_, err = far.CreateClaim(b.ctx, project, c, usecase.Request{})
		require.NoError(t, err, "and so is its end")
	}
}

func TestDrainedPoolIsDeletedWhenEmpty(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.set(t, quota("q", maxPools(10)))
	b.pool(t, root("net", "10.0.0.0/16"))
	b.pool(t, child("old", "net", 24, reserving(ipam.Reservation{First: 4})))
	b.pool(t, child("kept", "net", 24))
	cools := time.Hour
	_, err := b.PatchPool(b.ctx, project, "old", usecase.Request{}, func(p ipam.Pool) (ipam.Pool, error) {
		p.Spec.ReuseAfter = &cools
		return p, nil
	})
	require.NoError(t, err)
	b.claim(t, claim("c", "old", 28))
	b.drain(t, project, "old", ipam.DrainDelete)
	b.drain(t, project, "kept", ipam.DrainKeep)
	b.drained(t, 0)
	b.release(t, "c")
	b.drained(t, 0) // the claim's block still cools down
	b.clock.move(2 * time.Hour)
	_, err = b.FreeCooled(b.ctx, 100)
	require.NoError(t, err)
	b.drain(t, project, "old", ipam.DrainKeep)
	b.drained(t, 0)
	b.drain(t, project, "old", ipam.DrainDelete)
	b.drained(t, 1)
	b.drained(t, 0)
	require.Equal(t, []string{"kept", "net"}, b.pools(t, 10, paging.Filter{}))
	require.Equal(t, "2", b.usage(t, "q")[2])
	last := b.events(t, project, trail.EventFilter{Kind: "IPPool", Subject: pools.DrainKeeper})
	require.Len(t, last, 1)
	require.Nil(t, last[0].After)
}

func TestDrainingScopedPoolIsReplacedOnceDeleted(t *testing.T) {
	t.Parallel()
	b := setupScoped(t, emptyFor(time.Hour))
	b.claim(t, atSite("c", "ber"))
	old := b.only(t)
	b.drain(t, platform, old.Name, ipam.DrainDelete)
	e := b.refuseClaim(t, atSite("d", "ber"), ipam.CodePoolDraining)
	require.NotContains(t, e.Message, old.Name)
	b.release(t, "c")
	b.drained(t, 1)
	require.NotEqual(t, old.UID, b.claim(t, atSite("d", "ber")).PoolID)
}

// Claims and releases run while the pool begins to drain and the job deletes drained pools. The job must delete the pool only after its last claim
// has been released.
func TestConcurrentClaimsAndDrainStayConsistent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	far, _ := b.server(t)
	for round := range 6 {
		name := fmt.Sprintf("net-%d", round)
		b.pool(t, root(name, fmt.Sprintf("10.%d.0.0/16", round)))
		var racers sync.WaitGroup
		for i := range 8 {
			racers.Go(func() {
				c := claim(fmt.Sprintf("c-%d-%d", round, i), name, 28)
				if _, err := far.CreateClaim(b.ctx, project, c, usecase.Request{}); err == nil {
					err = far.DeleteClaim(b.ctx, project, c.Name, usecase.Request{})
					require.NoError(t, err)
				} else if !ipam.IsCode(err, ipam.CodeNotFound) {
					refused(t, err, ipam.CodePoolDraining)
				}
			})
		}
		racers.Go(func() { b.drain(t, project, name, ipam.DrainDelete) })
		racers.Go(func() { _, _ = b.DeleteDrained(b.ctx, 100) })
		racers.Wait()
		_, err := b.DeleteDrained(b.ctx, 100)
		require.NoError(t, err)
		_, err = b.GetPool(b.ctx, project, name, usecase.Reading{})
		refused(t, err, ipam.CodeNotFound)
	}
}
