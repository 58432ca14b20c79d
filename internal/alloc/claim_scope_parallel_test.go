package alloc_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Several claims start at the same time, and all are the first claim of a scope. One of them makes the pool of the scope, and the others use this
// pool. No claim is refused.
func TestConcurrentFirstClaimsOfAScopeShareOnePool(t *testing.T) {
	t.Parallel()
	for _, servers := range []int{1, 3} {
		t.Run(fmt.Sprintf("Servers%d", servers), func(t *testing.T) {
			t.Parallel()
			b := setupScoped(t)
			b.set(t, quota("q", maxPools(1), maxAddresses(160)))
			all := b.servers(t, servers)
			const n = 10
			claims, errs := make([]ipam.Claim, n), make([]error, n)
			var wg sync.WaitGroup
			for i := range n {
				wg.Go(func() {
					r, err := all[i%servers].CreateClaim(b.ctx, project, atSite(fmt.Sprintf("c%d", i), "ber"), usecase.Request{})
					claims[i], errs[i] = r.Value, err
				})
			}
			wg.Wait()
			p := b.only(t)
			blocks := map[string]bool{}
			for i := range n {
				require.NoError(t, errs[i])
				require.Equal(t, p.UID, claims[i].PoolID)
				require.True(t, p.Block.Contains(claims[i].Block.Addr()))
				blocks[claims[i].Block.String()] = true
			}
			require.Len(t, blocks, n, "disjoint, being of one length")
			require.Equal(t, [3]string{"160", "10", "1"}, b.usage(t, "q"))
		})
	}
}

// Concurrent claims and batches make pools for several scopes in two pools. They may wait for each other, but they never deadlock.
func TestConcurrentScopeCarvingDoesNotDeadlock(t *testing.T) {
	t.Parallel()
	b := setupScoped(t)
	b.poolIn(t, platform, root("us", "10.1.0.0/16", backing("net")))
	servers := b.servers(t, 3)
	sites := []string{"ber", "ham", "muc", "cgn"}
	const n = 12
	errs := make([]error, 2*n)
	var wg sync.WaitGroup
	for i := range n {
		s := servers[i%len(servers)]
		wg.Go(func() {
			_, errs[i] = s.CreateClaim(b.ctx, project, atSite(fmt.Sprintf("c%d", i), sites[i%4]), usecase.Request{})
		})
		wg.Go(func() {
			_, errs[n+i] = s.CreateClaimBatch(b.ctx, project, []ipam.Claim{
				atSite(fmt.Sprintf("x%d", i), sites[(i+1)%4]), atSite(fmt.Sprintf("y%d", i), sites[(3*i+2)%4]),
			}, usecase.Request{})
		})
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.Len(t, b.scopes(t), len(sites))
	require.Len(t, b.claims(t, 100, paging.Filter{}), 3*n)
}

func TestRetriedFirstClaimIsExecutedOnce(t *testing.T) {
	t.Parallel()
	b := setupScoped(t)
	servers := b.servers(t, 2)
	first, err := b.CreateClaim(b.ctx, project, atSite("c", "ber"), key("k", "c"))
	require.NoError(t, err)
	before := b.dump(t)
	again, err := servers[1].CreateClaim(b.ctx, project, atSite("c", "ber"), key("k", "c"))
	require.NoError(t, err)
	require.True(t, again.Replayed)
	require.Equal(t, first.Value, again.Value)
	put, err := b.PutClaim(b.ctx, project, atSite("c", "ber"), usecase.Request{})
	require.NoError(t, err)
	require.True(t, put.Existed)
	require.Equal(t, first.Value, put.Value)
	_, err = b.PutClaim(b.ctx, project, atSite("c", "ham"), usecase.Request{})
	require.Equal(t, "/spec/scope", refused(t, err, ipam.CodeAlreadyExists).Fields[0].Pointer)
	require.Equal(t, before, b.dump(t))

	t.Run("AtOnce", func(t *testing.T) {
		const n = 8
		results, errs := make([]usecase.Result[ipam.Claim], n), make([]error, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				results[i], errs[i] = servers[i%2].CreateClaim(b.ctx, project, atSite("d", "ham"), key("at-once", "d"))
			})
		}
		wg.Wait()
		made := 0
		for i := range n {
			require.NoError(t, errs[i])
			require.Equal(t, results[0].Value, results[i].Value)
			if !results[i].Replayed {
				made++
			}
		}
		require.Equal(t, 1, made)
		require.Len(t, b.scopes(t), 2)
	})
}

func TestFirstClaimWithUnknownOutcomeIsExecutedOnce(t *testing.T) {
	t.Parallel()
	for _, faults := range [][]fault{{lostBefore}, {lostAfter}, {lostBefore, lostAfter}, {landsLate}, {lostBefore, landsLate}} {
		name := ""
		for _, f := range faults {
			name += string(f)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupScoped(t)
			b.set(t, quota("q", maxPools(1), maxAddresses(16)))
			store, _ := b.store(t)
			f := &faulty{Store: store}
			b.Service = b.serve(f)
			f.next(faults...)
			r, err := b.CreateClaim(b.ctx, project, atSite("c", "ber"), key("k", "c"))
			require.NoError(t, err)
			require.Zero(t, f.left())
			p := b.only(t)
			require.Equal(t, p.UID, r.Value.PoolID)
			require.Equal(t, [3]string{"16", "1", "1"}, b.usage(t, "q"))
			again, err := b.CreateClaim(b.ctx, project, atSite("c", "ber"), key("k", "c"))
			require.NoError(t, err)
			require.True(t, again.Replayed)
			require.Equal(t, r.Value, again.Value)
		})
	}
}
