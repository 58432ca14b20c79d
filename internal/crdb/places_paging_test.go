package crdb_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// restless creates and releases claims in both regions until stop is called. Their names are between the names of the permanent claims.
func restless(t *testing.T, here, there *house) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(admin(t))
	var wg sync.WaitGroup
	for side, h := range []*house{here, there} {
		wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				name := fmt.Sprintf("c-%03d-%d-%d", rand.IntN(60), side, i)
				c := claimOf(name, project, []string{"both", "own-0", "own-1"}[i%2*(1+side)], 32)
				_, err := h.svc.CreateClaim(ctx, project, c, usecase.Request{})
				if err == nil {
					err = h.svc.DeleteClaim(ctx, project, name, usecase.Request{})
				}
				if err != nil && ctx.Err() == nil && !ipam.IsCode(err, ipam.CodeContention) {
					t.Errorf("%s: %v", name, err)
					return
				}
			}
		})
	}
	return func() {
		cancel()
		wg.Wait()
	}
}

// The test reads every list over several regions page by page. At the same time, claims are created and released in all regions. Each list contains
// the permanent items exactly once and in order. It contains no item twice.
func TestPagesOverRegionsAreCompleteWithoutDuplicates(t *testing.T) {
	t.Parallel()
	here, there := abroad(t)
	both := rootPool("both", "10.3.0.0/20")
	both.Spec.Region, both.Spec.Regions = region, []string{region, away}
	here.createPool(t, both)
	here.createPool(t, rootPool("own-0", "10.4.0.0/20"))
	there.createPool(t, rootPool("own-1", "10.5.0.0/20"))
	var stay, inBoth []string
	held := map[string]bool{} // allocations in the pool both
	for i := range 60 {
		side := i % 2
		pool := "both"
		if i%3 == 0 {
			pool = fmt.Sprint("own-", side)
		}
		made := []*house{here, there}[side].createClaim(t, claimOf(fmt.Sprintf("c-%03d", i), project, pool, 32))
		stay, held[made.AllocationID.String()] = append(stay, made.Name), true
		if pool == "both" {
			inBoth = append(inBoth, made.Name)
		}
	}
	slices.Sort(inBoth)
	ctx := admin(t)
	events := pages(t, func(cursor string) (paging.Page[ipam.Event], error) {
		return here.svc.ListEvents(ctx, project, trail.EventFilter{}, 100, cursor, usecase.Reading{})
	}, func(e ipam.Event) string { return e.ID.String() })
	stop := restless(t, here, there)
	defer stop()
	wholePool := paging.Filter{Pool: ipam.Ref{Project: project, Name: "both"}}
	for round := range 3 {
		for _, h := range []*house{here, there} {
			claims := pages(t, func(cursor string) (paging.Page[ipam.Claim], error) {
				return h.svc.ListClaims(ctx, project, paging.Filter{}, 3, cursor, usecase.Reading{})
			}, func(c ipam.Claim) string { return c.Name })
			require.True(t, slices.IsSorted(claims))
			once(t, claims, stay, "claims by name, round %d", round)
			inPool := pages(t, func(cursor string) (paging.Page[ipam.Claim], error) {
				return h.svc.ListClaims(ctx, project, wholePool, 3, cursor, usecase.Reading{})
			}, func(c ipam.Claim) string { return c.Name })
			once(t, inPool, inBoth, "claims of a pool, round %d", round)
			for what, f := range map[string]paging.Filter{"allocations": {}, "allocations of a pool": wholePool} {
				places := pages(t, func(cursor string) (paging.Page[ipam.Allocation], error) {
					return h.svc.ListAllocations(ctx, project, f, 3, cursor, usecase.Reading{})
				}, func(a ipam.Allocation) string { return a.ID.String() })
				want := []string{}
				for id := range held {
					if slices.Contains(places, id) || what == "allocations" {
						want = append(want, id)
					}
				}
				require.GreaterOrEqual(t, len(want), len(inBoth), what)
				once(t, places, want, what+", round %d", round)
			}
			seen := pages(t, func(cursor string) (paging.Page[ipam.Event], error) {
				return h.svc.ListEvents(ctx, project, trail.EventFilter{}, 50, cursor, usecase.Reading{})
			}, func(e ipam.Event) string { return e.ID.String() })
			require.True(t, slices.IsSortedFunc(seen, func(a, b string) int { return strings.Compare(b, a) }), "newest first")
			once(t, seen, events, "events, round %d", round)
		}
	}
	stop()
	clean(t, here.dsn)
}

// once requires that no item was read twice, and that all items in stay were read.
func once(t *testing.T, read, stay []string, what string, args ...any) {
	t.Helper()
	times := map[string]int{}
	for _, r := range read {
		times[r]++
		require.Equal(t, 1, times[r], fmt.Sprintf(what, args...)+": "+r)
	}
	for _, s := range stay {
		require.Equal(t, 1, times[s], fmt.Sprintf(what, args...)+": "+s)
	}
}
