package alloc_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// The pool of a scope is removed between the first reads and the transaction of a claim. The claim must get a new pool.
func TestClaimIsServedFromANewPoolIfItsScopedPoolIsRemovedConcurrently(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		op    string
		claim func(*bundle, *alloc.Service) (ipam.Claim, error)
	}{
		"Claim": {"claim_group", func(b *bundle, s *alloc.Service) (ipam.Claim, error) {
			r, err := s.CreateClaim(b.ctx, project, atSite("c", "ber"), key("k", "k"))
			return r.Value, err
		}},
		"Put": {"claim_group", func(b *bundle, s *alloc.Service) (ipam.Claim, error) {
			r, err := s.PutClaim(b.ctx, project, atSite("c", "ber"), usecase.Request{})
			return r.Value, err
		}},
		"Exact": {"claim_group", func(b *bundle, s *alloc.Service) (ipam.Claim, error) {
			r, err := s.CreateClaim(b.ctx, project, atSite("c", "ber", exactly("10.0.0.64/28")), usecase.Request{})
			return r.Value, err
		}},
		"Batch": {"claim_batch", func(b *bundle, s *alloc.Service) (ipam.Claim, error) {
			r, err := s.CreateClaimBatch(b.ctx, project, []ipam.Claim{atSite("c", "ber"), atSite("d", "ber")}, key("k", "k"))
			if err != nil {
				return ipam.Claim{}, err
			}
			return r.Value[0], err
		}},
	} {
		for remover, remove := range map[string]func(*testing.T, *bundle, ipam.Pool){
			"BySweep": func(t *testing.T, b *bundle, _ ipam.Pool) {
				t.Helper()
				b.swept(t, 0, 1)
			},
			"ByOwner": func(t *testing.T, b *bundle, p ipam.Pool) {
				t.Helper()
				require.NoError(t, b.DeletePool(b.ctx, platform, p.Name, usecase.Request{}))
			},
		} {
			t.Run(name+remover, func(t *testing.T) {
				t.Parallel()
				b := setupScoped(t, emptyFor(time.Hour))
				b.set(t, quota("q", maxPools(1)))
				b.claim(t, atSite("first", "ber"))
				b.release(t, "first")
				b.swept(t, 1, 0)
				b.clock.move(time.Hour)
				old := b.only(t)
				store, _ := b.store(t)
				g := newGate(store, c.op)
				g.close()
				var got ipam.Claim
				var err error
				var wg sync.WaitGroup
				wg.Go(func() { got, err = c.claim(b, b.serve(g)) })
				<-g.arrived
				remove(t, b, old)
				g.pass()
				wg.Wait()
				require.NoError(t, err)
				p := b.only(t)
				require.NotEqual(t, old.UID, p.UID)
				require.Equal(t, p.UID, got.PoolID)
				require.Equal(t, "1", b.usage(t, "q")[2])
			})
		}
	}
}

// The sweep is the background job that marks empty scoped pools and later removes them. If a claim is made between the sweep's first reads and its
// transaction, the sweep must neither mark nor remove the pool.
func TestScopedPoolWithAConcurrentClaimIsNotSwept(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		op      string
		release bool // also release the claim, so that the pool is empty again
	}{
		"BeforeItIsMarked":         {"scope_mark", false},
		"BeforeItIsRemoved":        {"scope_remove", false},
		"AndReleasedBeforeRemoval": {"scope_remove", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupScoped(t, emptyFor(time.Hour))
			b.claim(t, atSite("first", "ber"))
			b.release(t, "first")
			if c.op == "scope_remove" {
				b.swept(t, 1, 0)
				b.clock.move(time.Hour)
			}
			store, _ := b.store(t)
			g := newGate(store, c.op)
			g.close()
			var marked, removed int
			var err error
			var wg sync.WaitGroup
			s := b.serve(g)
			wg.Go(func() { marked, removed, err = s.SweepScopes(b.ctx, 10, 100) })
			<-g.arrived
			b.claim(t, atSite("second", "ber"))
			if c.release {
				b.release(t, "second")
			}
			g.pass()
			wg.Wait()
			require.NoError(t, err)
			require.Equal(t, [2]int{}, [2]int{marked, removed})
			require.Zero(t, b.only(t).EmptySince, "it is not what had been seen any more")
		})
	}
}

// Claims on three servers make scoped pools, while two of these servers sweep empty ones. No claim may be refused, and the quota figures must be
// right at the end.
func TestScopedPoolsAreCreatedAndSweptUnderLoad(t *testing.T) {
	t.Parallel()
	b := setupScoped(t, emptyFor(0))
	b.set(t, quota("q", maxPools(100)))
	servers := b.servers(t, 3)
	var clients, keepers sync.WaitGroup
	stop := make(chan struct{})
	var mu sync.Mutex
	var odd []error
	gone := 0
	note := func(removed int, err error) {
		mu.Lock()
		defer mu.Unlock()
		if gone += removed; err != nil {
			odd = append(odd, err)
		}
	}
	for _, s := range servers[1:] {
		keepers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_, removed, err := s.SweepScopes(b.ctx, 3, 100)
					note(removed, err)
				}
			}
		})
	}
	for i := range 6 {
		clients.Go(func() {
			for n := range 20 {
				name := fmt.Sprintf("c%d-%d", i, n)
				_, err := servers[i%3].CreateClaim(b.ctx, project, atSite(name, fmt.Sprintf("site%d", i%2)), usecase.Request{})
				note(0, err)
				note(0, servers[(i+1)%3].DeleteClaim(b.ctx, project, name, usecase.Request{}))
			}
		})
	}
	clients.Wait()
	close(stop)
	keepers.Wait()
	require.Empty(t, odd)
	for range 2 { // the first sweep marks, the second one removes
		_, removed, err := b.SweepScopes(b.ctx, 100, 100)
		note(removed, err)
	}
	require.Empty(t, odd)
	require.Positive(t, gone)
	require.Empty(t, b.scopes(t))
	require.Equal(t, [3]string{"0", "0", "0"}, b.usage(t, "q"))
	require.Equal(t, [2]string{"65536", "0"}, b.figures(t, platform, "eu"))
}
