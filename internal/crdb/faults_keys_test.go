package crdb_test

import (
	"fmt"
	"net/netip"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/pgfault"
)

// Every COMMIT of one server loses its connection, either before or after it takes effect. The callers get no response, and repeat their requests
// with the same keys at another server. Each key takes exactly one block.
func TestRetriesAfterACutAtCommitTakeOneBlockPerKey(t *testing.T) {
	t.Parallel()
	const keys, workers = 250, 32
	st := newStorm(t)
	pool := st.direct.createPool(t, rootPool("pool", "10.0.0.0/20"))
	commits := 0
	st.proxy.SetRules(atCommit(func(e pgfault.Event) pgfault.Action {
		if commits++; commits%2 == 0 {
			return pgfault.LostBeforeCommit()(e)
		}
		return pgfault.CommittedAnswerLost()(e)
	}))
	ctx := admin(t)
	names := make(chan string)
	var mu sync.Mutex
	blocks, replayed := map[netip.Prefix]string{}, 0
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for name := range names {
				request := usecase.Request{Key: "key-of-" + name, Fingerprint: [16]byte{1}}
				claim := claimOf(name, project, "pool", 32)
				_, told := st.svc.CreateClaim(ctx, project, claim, request) // the response to the COMMIT is lost, so the server reads the outcome
				r, err := st.direct.svc.CreateClaim(ctx, project, claim, request)
				if !assert.NoError(t, err) {
					continue
				}
				late := ipam.IsCode(told, ipam.CodeOutcomeUnknown) || ipam.IsCode(told, ipam.CodeDeadline) // the server did not find the outcome in time
				assert.True(t, r.Replayed || late, "%s: the first answer; it was told %v", name, told)
				mu.Lock()
				if r.Replayed {
					replayed++
				}
				assert.NotContains(t, blocks, r.Value.Block)
				blocks[r.Value.Block] = name
				mu.Unlock()
			}
		})
	}
	for i := range keys {
		names <- fmt.Sprintf("c-%d", i)
	}
	close(names)
	wg.Wait()
	require.Len(t, blocks, keys)
	require.Greater(t, replayed, keys/2)
	for block, name := range blocks {
		c, err := st.direct.svc.GetClaim(ctx, project, name, usecase.Reading{})
		require.NoError(t, err)
		require.Equal(t, block, c.Block)
	}
	injected := st.proxy.Injected()
	require.NotZero(t, injected["LostBeforeCommit"])
	require.NotZero(t, injected["CommittedAnswerLost"])
	stocks, err := st.direct.store.Stocks(ctx, []storage.Container{storage.PoolContainer(pool)})
	require.NoError(t, err)
	require.Equal(t, fmt.Sprint(1<<12-keys), stocks[pool.UID].Available(ipam.IPv4.Bits()).String())
	clean(t, st.direct.dsn)
}

// Two servers get requests with the same key again and again, while their COMMITs lose connections. The key takes exactly one block.
func TestOneKeyTakesOneBlockForAnyNumberOfRetries(t *testing.T) {
	t.Parallel()
	st := newStorm(t)
	other := newHouse(t, st.proxy.DSN())
	st.direct.createPool(t, rootPool("pool", "10.0.0.0/24"))
	st.proxy.SetRules(pgfault.First(3, pgfault.LostBeforeCommit()), pgfault.First(3, pgfault.CommittedAnswerLost()))
	ctx := admin(t)
	var mu sync.Mutex
	told := map[netip.Prefix]int{}
	var wg sync.WaitGroup
	for i := range 32 {
		svc := []*alloc.Service{st.svc, other.svc}[i%2]
		wg.Go(func() {
			claim := func() (usecase.Result[ipam.Claim], error) {
				return svc.CreateClaim(ctx, project, claimOf("claim", project, "pool", 28), usecase.Request{Key: "key", Fingerprint: [16]byte{1}})
			}
			r, err := claim()
			for ipam.IsCode(err, ipam.CodeOutcomeUnknown) && ctx.Err() == nil { // the server stops its search for the outcome after a time limit
				r, err = claim()
			}
			if assert.NoError(t, err) {
				mu.Lock()
				told[r.Value.Block]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	require.Len(t, told, 1)
	page, err := st.direct.svc.ListAllocations(ctx, project, paging.Filter{}, 10, "", usecase.Reading{})
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
	require.Equal(t, 32, told[page.Items[0].Block])
	clean(t, st.direct.dsn)
}
