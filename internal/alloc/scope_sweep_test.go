package alloc_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/pools"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

func emptyFor(d time.Duration) classOption { return func(s *ipam.ClassSpec) { s.EmptyPoolTTL = &d } }

// swept runs the job that marks and removes empty scoped pools. It requires the numbers of pools that the job marks and removes.
func (b *bundle) swept(t testing.TB, marked, removed int) {
	t.Helper()
	m, r, err := b.SweepScopes(b.ctx, 2, 100)
	require.NoError(t, err)
	require.Equal(t, [2]int{marked, removed}, [2]int{m, r}, "marked, removed")
}

func TestEmptyScopedPoolIsSweptAfterItsTTL(t *testing.T) {
	t.Parallel()
	b := setupScoped(t, emptyFor(time.Hour))
	b.set(t, quota("q", maxPools(10)))
	begun := b.clock.read()
	for _, site := range []string{"ber", "ham", "muc", "cgn", "fra"} { // more than a page
		b.claim(t, atSite(site, site))
	}
	b.swept(t, 0, 0)
	b.release(t, "ber")
	b.release(t, "fra")
	before := b.dump(t)
	b.swept(t, 2, 0)
	after := b.dump(t)
	require.NotEqual(t, before["pools"], after["pools"])
	require.NotEqual(t, before["fences"], after["fences"], "and the fence says so")
	before["pools"] = after["pools"]
	require.Equal(t, state(before), state(after), "a mark is all that is written")
	b.clock.move(59 * time.Minute)
	b.swept(t, 0, 0)
	require.Len(t, b.scopes(t), 5)
	require.Equal(t, [3]string{"48", "3", "5"}, b.usage(t, "q"))
	b.release(t, "muc")
	b.clock.move(time.Minute)
	b.swept(t, 1, 2)
	require.Len(t, b.scopes(t), 3)
	require.Equal(t, [3]string{"32", "2", "3"}, b.usage(t, "q"), "the pools count no more for whom they were carved")
	require.Equal(t, [2]string{"64768", "0"}, b.figures(t, platform, "eu"))
	var gone []ipam.Event
	for _, e := range b.events(t, platform, trail.EventFilter{Kind: "IPPool", Subject: pools.ScopeKeeper}) {
		if e.After == nil {
			gone = append(gone, e)
		}
	}
	require.Len(t, gone, 2, "it is in the owner's trail")
	require.Equal(t, ipam.OutcomeOK, gone[0].Outcome)
	history := b.past(b.ctx, t, platform, "10.0.0.1", begun, -1, 10)
	require.Len(t, history, 2)
	require.Contains(t, history[0], "ChildPool", "and in the history")
	require.Contains(t, history[0], "0-60")
	auditClean(t, b.dsn)
	require.Equal(t, "10.0.0.0/28", b.claim(t, atSite("ber", "ber")).Block.String(), "the scope gets a pool anew")
	require.Len(t, b.scopes(t), 4)
}

func TestScopedPoolsWithoutATTLAreKept(t *testing.T) {
	t.Parallel()
	b := setupScoped(t)
	_, err := b.PatchClass(b.ctx, platform, "net", false, usecase.Request{}, func(c ipam.Class) (ipam.Class, error) {
		c.Spec.EmptyPoolTTL = nil
		return c, nil
	})
	require.NoError(t, err)
	b.claim(t, atSite("c", "ber"))
	b.release(t, "c")
	b.swept(t, 1, 0)
	b.clock.move(10_000 * time.Hour)
	b.swept(t, 0, 0)
	require.Len(t, b.scopes(t), 1)
}

func TestClaimInAnEmptyScopedPoolResetsItsTTL(t *testing.T) {
	t.Parallel()
	for name, bind := range map[string]func(*bundle, ipam.Claim) error{
		"Claim": func(b *bundle, c ipam.Claim) error {
			return second(b.CreateClaim(b.ctx, project, c, usecase.Request{}))
		},
		"Batch": func(b *bundle, c ipam.Claim) error {
			return second(b.CreateClaimBatch(b.ctx, project, []ipam.Claim{c}, usecase.Request{}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupScoped(t, emptyFor(time.Hour))
			b.claim(t, atSite("first", "ber"))
			b.release(t, "first")
			b.swept(t, 1, 0)
			require.Equal(t, b.clock.read(), b.only(t).EmptySince)
			b.clock.move(50 * time.Minute)
			require.NoError(t, bind(b, atSite("second", "ber")))
			require.Zero(t, b.only(t).EmptySince)
			b.clock.move(time.Hour)
			b.swept(t, 0, 0)
			b.release(t, "second")
			b.swept(t, 1, 0)
			b.clock.move(59 * time.Minute)
			b.swept(t, 0, 0)
			b.clock.move(time.Minute)
			b.swept(t, 0, 1)
		})
	}
}

func TestOwnersReservationsDoNotKeepAScopedPool(t *testing.T) {
	t.Parallel()
	b := setupScoped(t, emptyFor(time.Hour))
	c := b.claim(t, atSite("ber", "ber"))
	_, err := b.PatchPool(b.ctx, platform, c.Pool.Name, usecase.Request{}, func(p ipam.Pool) (ipam.Pool, error) {
		p.Spec.Reservations = []ipam.Reservation{{Last: 1}}
		return p, nil
	})
	require.NoError(t, err)
	auditClean(t, b.dsn)
	b.swept(t, 0, 0)
	b.release(t, "ber")
	b.swept(t, 1, 0)
	b.clock.move(time.Hour)
	b.swept(t, 0, 1)
	require.Empty(t, b.scopes(t))
}

func TestCoolingBlockKeepsAScopedPool(t *testing.T) {
	t.Parallel()
	b := setupScoped(t, emptyFor(time.Minute), cooling(time.Hour))
	b.claim(t, atSite("c", "ber"))
	b.release(t, "c")
	b.swept(t, 0, 0)
	b.clock.move(time.Hour)
	b.swept(t, 0, 0)
	b.freed(t, 1)
	b.swept(t, 1, 0)
	b.clock.move(time.Minute)
	b.swept(t, 0, 1)
}

func TestOwnerDeletesAScopedPoolOnlyWhenEmpty(t *testing.T) {
	t.Parallel()
	b := setupScoped(t)
	b.set(t, quota("q", maxPools(10)))
	b.claim(t, atSite("c", "ber"))
	p := b.only(t)
	refused(t, b.DeletePool(b.ctx, project, p.Name, usecase.Request{}), ipam.CodeNotFound)
	refused(t, b.DeletePool(b.ctx, platform, p.Name, usecase.Request{}), ipam.CodeInUse)
	b.release(t, "c")
	require.NoError(t, b.DeletePool(b.ctx, platform, p.Name, usecase.Request{}))
	require.Empty(t, b.scopes(t))
	require.Equal(t, [3]string{"0", "0", "0"}, b.usage(t, "q"), "given back to whom it was carved for")
	require.Equal(t, []string{"10.0.0.0/16"}, func() []string {
		page, err := b.GetPoolFree(b.ctx, platform, "eu", nil, 10, "", usecase.Reading{})
		require.NoError(t, err)
		return texts(page.Blocks)
	}())
	b.claim(t, atSite("c", "ber"))
}

func TestConcurrentSweepsRemoveEachPoolOnce(t *testing.T) {
	t.Parallel()
	b := setupScoped(t, emptyFor(time.Hour))
	servers := b.servers(t, 3)
	const pools = 6
	for i := range pools {
		name := fmt.Sprintf("c%d", i)
		b.claim(t, atSite(name, name))
		b.release(t, name)
	}
	sweep := func() (marked, removed int) {
		var wg sync.WaitGroup
		m, r, errs := make([]int, len(servers)), make([]int, len(servers)), make([]error, len(servers))
		for i, s := range servers {
			wg.Go(func() { m[i], r[i], errs[i] = s.SweepScopes(b.ctx, 4, 100) })
		}
		wg.Wait()
		for i := range servers {
			require.NoError(t, errs[i])
			marked, removed = marked+m[i], removed+r[i]
		}
		return marked, removed
	}
	m, r := sweep()
	require.Equal(t, [2]int{pools, 0}, [2]int{m, r})
	b.clock.move(time.Hour)
	m, r = sweep()
	require.Equal(t, [2]int{0, pools}, [2]int{m, r})
	require.Empty(t, b.scopes(t))
	require.Equal(t, [2]string{"65536", "0"}, b.figures(t, platform, "eu"))
}

// The response to a COMMIT of the sweep is lost. The next sweep must do exactly the work that is left.
func TestSweepWithUnknownOutcomeIsCompletedByTheNext(t *testing.T) {
	t.Parallel()
	for fault, left := range map[fault]int{lostBefore: 1, lostAfter: 0} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			b := setupScoped(t, emptyFor(time.Hour))
			b.set(t, quota("q", maxPools(1)))
			b.claim(t, atSite("c", "ber"))
			b.release(t, "c")
			store, _ := b.store(t)
			f := &faulty{Store: store}
			s := b.serve(f)
			f.next(fault)
			_, _, err := s.SweepScopes(b.ctx, 10, 100)
			refused(t, err, ipam.CodeOutcomeUnknown)
			b.swept(t, left, 0)
			b.clock.move(time.Hour)
			f.next(fault)
			_, _, err = s.SweepScopes(b.ctx, 10, 100)
			refused(t, err, ipam.CodeOutcomeUnknown)
			b.swept(t, 0, left)
			require.Empty(t, b.scopes(t))
			require.Equal(t, [3]string{"0", "0", "0"}, b.usage(t, "q"))
		})
	}
}

// TestEveryOperationLocksTheRowsItDependsOn explains why these locks are necessary.
func TestBackgroundJobsLockTheRowsTheyDependOn(t *testing.T) {
	t.Parallel()
	b := setupScoped(t, emptyFor(0), cooling(time.Hour))
	store, _ := b.store(t)
	n := &naming{Store: store, last: map[string]storage.Locks{}}
	b.Service = b.serve(n)
	p, err := b.GetProject(b.ctx, project)
	require.NoError(t, err)
	eu, err := b.GetPool(b.ctx, platform, "eu", usecase.Reading{})
	require.NoError(t, err)
	named := func(op string, want storage.Locks) {
		t.Helper()
		got, some := n.last[op]
		require.True(t, some, op)
		require.ElementsMatch(t, want.Exclusive, got.Exclusive, op)
		require.ElementsMatch(t, want.Shared, got.Shared, op)
	}
	for _, op := range []string{"scope_remove", "pool_delete"} {
		b.claim(t, atSite("c", "ber"))
		b.release(t, "c")
		b.clock.move(time.Hour)
		b.freed(t, 1)
		scoped := b.only(t)
		named("cooldown_free", storage.Locks{Exclusive: []ipam.ID{scoped.UID}})
		b.swept(t, 1, 0)
		named("scope_mark", storage.Locks{Exclusive: []ipam.ID{scoped.UID}})
		if op == "scope_remove" {
			b.swept(t, 0, 1)
		} else {
			require.NoError(t, b.DeletePool(b.ctx, platform, scoped.Name, usecase.Request{}))
		}
		named(op, storage.Locks{Exclusive: []ipam.ID{scoped.UID, eu.UID}, Shared: []ipam.ID{p.UID}})
	}
}
