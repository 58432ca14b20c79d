package alloc_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

func coolsDown(d time.Duration) poolOption { return func(p *ipam.Pool) { p.Spec.ReuseAfter = &d } }

// figures returns the numbers of free addresses and of addresses in cool-down in a pool.
func (b *bundle) figures(t testing.TB, in, pool string) [2]string {
	t.Helper()
	p, err := b.GetPool(b.ctx, in, pool, usecase.Reading{})
	require.NoError(t, err)
	return [2]string{p.Stock.Available(32).String(), ipam.Stock{Free: p.Stock.Cooling}.Available(32).String()}
}

// freed runs the job that frees cooled blocks, and requires the number of blocks that it frees.
func (b *bundle) freed(t testing.TB, want int) {
	t.Helper()
	n, err := b.FreeCooled(b.ctx, 1000)
	require.NoError(t, err)
	require.Equal(t, want, n)
}

func TestReleasedBlockIsUnavailableUntilCooledDown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, platform, class("net", sharedClass, lengths(25, 28, 25), cooling(time.Hour)))
	b.poolIn(t, platform, root("eu", "10.0.0.0/24", backing("net")))
	b.set(t, quota("q", maxAddresses(1000), maxClaims(10)))
	begun := b.clock.read()
	step := func(free, cooling string, addresses, claims string) {
		t.Helper()
		require.Equal(t, [2]string{free, cooling}, b.figures(t, platform, "eu"))
		require.Equal(t, [3]string{addresses, claims, "0"}, b.usage(t, "q"))
		auditClean(t, b.dsn)
	}
	step("256", "0", "0", "0")
	first := b.claim(t, byClass("first", "net"))
	b.claim(t, byClass("second", "net"))
	require.Equal(t, time.Hour, first.ReuseAfter)
	step("0", "0", "256", "2")
	e := b.refuseClaim(t, byClass("third", "net"), ipam.CodePoolExhausted)
	require.Zero(t, e.Figures.CooledDownAt)

	b.clock.move(time.Minute)
	b.release(t, "first")
	step("0", "128", "128", "1")
	b.clock.move(time.Minute)
	b.release(t, "second")
	step("0", "256", "0", "0")

	t.Run("RefusalReportsTheEndOfCooldown", func(t *testing.T) {
		e := b.refuseClaim(t, byClass("third", "net"), ipam.CodeExhaustedByCooldown)
		require.Equal(t, "256", e.Figures.CoolingDown)
		require.Equal(t, begun.Add(61*time.Minute), e.Figures.CooledDownAt)
		require.Equal(t, 59*time.Minute, e.RetryAfter, "two of the 61 have passed")
		require.Equal(t, "platform/net", e.Figures.Class)
		require.Equal(t, "0", e.Figures.AvailableAddresses)
		require.NotContains(t, e.Message, "eu", "the pool is not the consumer's to know")
		e = b.refuseClaim(t, byClass("exact", "net", exactly("10.0.0.0/25")), ipam.CodeBlockTaken)
		require.Equal(t, begun.Add(61*time.Minute), e.Figures.CooledDownAt)
	})
	t.Run("AllocationHasNoHolder", func(t *testing.T) {
		for _, h := range b.past(b.ctx, t, platform, "10.0.0.1", begun, 2, 10) {
			require.NotContains(t, h, "Claim", "at a time during the cool-down")
		}
		require.Equal(t, []string{"10.0.0.0/25 Claim acme/ Bound 0-1"}, b.past(b.ctx, t, platform, "10.0.0.1", begun, -1, 10))
	})
	t.Run("NothingIsFreedEarly", func(t *testing.T) {
		b.clock.move(58*time.Minute + 59*time.Second) // one second before the first block is due
		b.freed(t, 0)
		step("0", "256", "0", "0")
	})
	b.clock.move(time.Second)
	b.freed(t, 1)
	step("128", "128", "0", "0")
	b.freed(t, 0)
	b.clock.move(time.Minute)
	b.freed(t, 1)
	step("256", "0", "0", "0")
	free, err := b.GetPoolFree(b.ctx, platform, "eu", nil, 10, "", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, []string{"10.0.0.0/24"}, texts(free.Blocks), "the halves are one again")
	require.Equal(t, "10.0.0.0/25", b.claim(t, byClass("third", "net")).Block.String())
	step("128", "0", "128", "1")
}

func TestEndOfCooldownAddsNoTrailOrHistory(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24", coolsDown(time.Minute)))
	b.claim(t, claim("c", "net", 28))
	b.release(t, "c")
	b.clock.move(time.Minute)
	before := counts(b.dump(t))
	b.freed(t, 1)
	after := counts(b.dump(t))
	require.Equal(t, before["audit_events"], after["audit_events"])
	require.Equal(t, before["history"], after["history"])
	require.Equal(t, before["holds"]-1, after["holds"])
}

func TestCooldownComesFromTheClassThenThePool(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, project, class("own", cooling(2*time.Hour)))
	b.class(t, project, class("none"))
	b.class(t, project, class("never", cooling(0)))
	b.pool(t, root("net", "10.0.0.0/24", coolsDown(time.Hour), backing("own", "none", "never")))
	for name, c := range map[string]struct {
		claim ipam.Claim
		want  time.Duration
	}{
		"ClassBeforePool":      {byClass("a", "own", length(28)), 2 * time.Hour},
		"PoolWithoutTheClass":  {byClass("b", "none", length(28)), time.Hour},
		"ClassWithoutCooldown": {byClass("c", "never", length(28)), 0},
		"PoolByItsName":        {claim("d", "net", 28), time.Hour},
	} {
		made := b.claim(t, c.claim)
		require.Equal(t, c.want, made.ReuseAfter, name)
		b.release(t, made.Name)
		a, err := b.GetAllocation(b.ctx, project, made.AllocationID.String(), usecase.Reading{})
		if c.want == 0 {
			refused(t, err, ipam.CodeNotFound)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, ipam.PhaseCoolingDown, a.Phase, name)
		require.Equal(t, b.clock.read().Add(c.want), a.CoolUntil, name)
	}
	require.Len(t, b.allocations(t, 10, paging.Filter{Phase: string(ipam.PhaseCoolingDown)}), 3)
	b.clock.move(time.Hour)
	b.freed(t, 2)
	b.clock.move(time.Hour)
	b.freed(t, 1)
}

func TestChangedReuseAfterDoesNotAffectExistingClaims(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, project, class("net", cooling(time.Hour)))
	b.pool(t, root("of-class", "10.0.0.0/24", backing("net")))
	b.pool(t, root("of-pool", "10.0.1.0/24"))
	b.claim(t, byClass("before", "net", length(28)))
	b.claim(t, claim("plain", "of-pool", 28))
	_, err := b.patchClass("net", false, usecase.Request{}, cooling(0))
	require.NoError(t, err)
	_, err = b.patch("of-pool", usecase.Request{}, coolsDown(time.Hour))
	require.NoError(t, err)
	b.claim(t, byClass("after", "net", length(28)))
	b.claim(t, claim("later", "of-pool", 28))
	for _, name := range []string{"before", "after", "plain", "later"} {
		b.release(t, name)
	}
	require.Equal(t, [2]string{"240", "16"}, b.figures(t, project, "of-class"), "the first claim of the class, as when it was made")
	require.Equal(t, [2]string{"240", "16"}, b.figures(t, project, "of-pool"), "the second claim of the pool alone")
	b.clock.move(time.Hour)
	b.freed(t, 2)
}

func TestReclaimPolicyDecidesBetweenRetentionAndCooldown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24", coolsDown(time.Hour)))
	kept := b.claim(t, claim("kept", "net", 28))
	_, err := b.patchClaim("kept", usecase.Request{}, retain)
	require.NoError(t, err)
	b.release(t, "kept")
	require.Equal(t, [2]string{"240", "0"}, b.figures(t, project, "net"), "retained, and not cooling down")
	b.clock.move(2 * time.Hour)
	b.freed(t, 0)
	b.claim(t, again("back", kept.AllocationID, func(c *ipam.Claim) { c.Spec.ReclaimPolicy = ipam.ReclaimDelete }))
	b.release(t, "back")
	require.Equal(t, [2]string{"240", "16"}, b.figures(t, project, "net"), "bound again, it cools down when it is released")
	e := b.refuseClaim(t, again("too-late", kept.AllocationID), ipam.CodeInUse)
	require.Contains(t, e.Message, "cooling down")
	b.clock.move(time.Hour)
	b.freed(t, 1)
	b.refuseClaim(t, again("much-too-late", kept.AllocationID), ipam.CodeNotFound)
}

// breaking is a store that fails to free the blocks of one container.
type breaking struct {
	storage.Store
	container ipam.ID
}

func (s breaking) InTx(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
	if op == "cooldown_free" && slices.Contains(locks.Exclusive, s.container) {
		return errors.New("this container is broken")
	}
	return s.Store.InTx(ctx, op, locks, fn)
}

func TestFailingContainerDoesNotDelayOthers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	broken := b.pool(t, root("broken", "10.0.0.0/24", coolsDown(time.Minute)))
	b.pool(t, root("net", "10.0.1.0/24", coolsDown(time.Minute)))
	release := func(pool string, n int) {
		for i := range n {
			name := fmt.Sprintf("%s-%d", pool, i)
			b.claim(t, claim(name, pool, 32))
			b.release(t, name)
			b.clock.move(time.Microsecond)
		}
	}
	release("broken", 8)
	release("net", 3)
	b.clock.move(time.Minute)
	store, _ := b.store(t)
	n, err := b.serve(breaking{store, broken.UID}).FreeCooled(b.ctx, 4)
	require.ErrorContains(t, err, "this container is broken")
	require.Equal(t, 3, n, "although more than the limit wait for what cannot be freed")
	require.Equal(t, [2]string{"256", "0"}, b.figures(t, project, "net"))
	require.Equal(t, [2]string{"248", "8"}, b.figures(t, project, "broken"))
	for i, want := range []int{4, 4, 0} {
		n, err = b.FreeCooled(b.ctx, 4)
		require.NoError(t, err)
		require.Equal(t, want, n, "run %d: the limit is kept", i)
	}
}

func TestConcurrentServersFreeEachBlockOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	servers := b.servers(t, 3)
	const pools, each = 4, 8
	for p := range pools {
		name := fmt.Sprintf("net-%d", p)
		b.pool(t, root(name, fmt.Sprintf("10.0.%d.0/28", p), coolsDown(time.Minute)))
		for i := range each {
			c := fmt.Sprintf("%s-%d", name, i)
			b.claim(t, claim(c, name, 32))
			b.release(t, c)
		}
	}
	b.clock.move(time.Minute)
	var wg sync.WaitGroup
	freed, errs := make([]int, 3*len(servers)), make([]error, 3*len(servers))
	for i := range freed {
		wg.Go(func() { freed[i], errs[i] = servers[i%len(servers)].FreeCooled(b.ctx, 1000) })
	}
	wg.Wait()
	sum := 0
	for i, n := range freed {
		require.NoError(t, errs[i])
		sum += n
	}
	require.Equal(t, pools*each, sum)
	for p := range pools {
		require.Equal(t, []string{fmt.Sprintf("10.0.%d.0/28", p)}, b.free(t, fmt.Sprintf("net-%d", p)))
	}
}

// The response to a COMMIT is lost. The next run of the job frees exactly the blocks that are left.
func TestFreeingWithUnknownOutcomeIsCompletedByTheNextRun(t *testing.T) {
	t.Parallel()
	for fault, left := range map[fault]int{lostBefore: 1, lostAfter: 0} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.pool(t, root("net", "10.0.0.0/24", coolsDown(time.Minute)))
			b.claim(t, claim("c", "net", 28))
			b.release(t, "c")
			b.clock.move(time.Minute)
			store, _ := b.store(t)
			f := &faulty{Store: store}
			s := b.serve(f)
			f.next(fault)
			_, err := s.FreeCooled(b.ctx, 10)
			refused(t, err, ipam.CodeOutcomeUnknown)
			n, err := s.FreeCooled(b.ctx, 10)
			require.NoError(t, err)
			require.Equal(t, left, n)
			require.Equal(t, []string{"10.0.0.0/24"}, b.free(t, "net"))
		})
	}
}

// Another server frees the block first. When this server's transaction runs, a claim holds the block again, or the block cools down again. So the
// transaction must not free it.
func TestBlockHeldAgainIsNotFreed(t *testing.T) {
	t.Parallel()
	for name, released := range map[string]bool{"Held": false, "CoolingDownAgain": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.pool(t, root("net", "10.0.0.0/28", coolsDown(time.Minute)))
			b.claim(t, claim("first", "net", 28))
			b.release(t, "first")
			b.clock.move(time.Minute)
			store, _ := b.store(t)
			g := newGate(store, "cooldown_free")
			slow := b.serve(g)
			g.close()
			var n int
			var err error
			var wg sync.WaitGroup
			wg.Go(func() { n, err = slow.FreeCooled(b.ctx, 10) })
			<-g.arrived
			b.freed(t, 1)
			b.claim(t, claim("second", "net", 28))
			if released {
				b.release(t, "second")
			}
			before := b.dump(t)
			g.pass()
			wg.Wait()
			require.NoError(t, err)
			require.Zero(t, n)
			require.Equal(t, before, b.dump(t))
		})
	}
}
