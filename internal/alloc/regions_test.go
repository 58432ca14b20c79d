package alloc_test

import (
	"fmt"
	"net/netip"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

func TestClaimIsServedFromItsRegion(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.served(t, "wide", "10.0.0.0/16")
	for i, r := range []string{region, eu, us, eu} {
		c, err := w.claimIn(w.ctx, r, fmt.Sprintf("c%d", i), "wide", 28)
		require.NoError(t, err)
		require.Equal(t, r, c.Region)
	}
	p, err := w.GetPool(w.ctx, project, "wide", usecase.Reading{})
	require.NoError(t, err)
	require.Len(t, p.Regional, 3)
	for _, r := range p.Regional {
		if r.Region == region {
			require.Empty(t, r.Lent.Free)
			continue
		}
		require.Equal(t, map[int]int64{22: 1}, r.Lent.Free, "64 blocks of the length that was asked for first")
		require.Equal(t, 10, r.Loan)
	}
	require.Equal(t, int64(1<<16-4*16), p.Stock.Available(32).Int64())
}

func TestLastFreeBlockIsFoundInAnyRegion(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.served(t, "small", "10.0.0.0/26")
	seen := map[netip.Prefix]bool{}
	for i := range 64 {
		r := []string{region, eu, us}[i%3]
		c, err := w.claimIn(w.ctx, r, fmt.Sprintf("c%d", i), "small", 32)
		require.NoError(t, err, "claim %d", i)
		require.False(t, seen[c.Block])
		seen[c.Block] = true
	}
	for _, r := range []string{region, eu, us} {
		_, err := w.claimIn(w.ctx, r, "more-"+r, "small", 32)
		require.Equal(t, ipam.CodePoolExhausted, ipam.CodeOf(err), "%v", err)
	}
	for i := range 64 { // in turn from each region
		require.NoError(t, w.in[[]string{eu, us, region}[i%3]].DeleteClaim(w.ctx, project, fmt.Sprintf("c%d", i), usecase.Request{}))
	}
	c, err := w.claimIn(w.ctx, eu, "whole", "small", 26)
	require.NoError(t, err)
	require.Equal(t, "10.0.0.0/26", c.Block.String())
}

func TestConcurrentClaimsInSeveralRegionsAreDisjoint(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.served(t, "busy", "10.0.0.0/24")
	var (
		mu   sync.Mutex
		seen = map[netip.Prefix]string{}
		wg   sync.WaitGroup
	)
	for i := range 12 {
		r := []string{region, eu, us}[i%3]
		wg.Go(func() {
			for n := range 30 {
				name := fmt.Sprintf("c%d-%d", i, n)
				c, err := w.claimIn(w.ctx, r, name, "busy", 32)
				if ipam.IsCode(err, ipam.CodePoolExhausted) || ipam.IsCode(err, ipam.CodeContention) {
					continue
				}
				if err != nil {
					t.Errorf("%s in %s: %v", name, r, err)
					return
				}
				mu.Lock()
				if by, twice := seen[c.Block]; twice {
					t.Errorf("%s was given to %s and %s", c.Block, by, name)
				}
				seen[c.Block] = name
				mu.Unlock()
				if n%3 == 0 {
					mu.Lock()
					delete(seen, c.Block)
					mu.Unlock()
					if err := w.in[r].DeleteClaim(w.ctx, project, name, usecase.Request{}); err != nil {
						t.Errorf("release of %s in %s: %v", name, r, err)
					}
				}
			}
		})
	}
	wg.Wait()
}
