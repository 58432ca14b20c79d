package alloc_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/ipam"
)

// TestHoldsOfABlockDoNotOverlap lets many callers of one server claim and release two addresses. A caller may wait long for the lock. Nevertheless,
// no two holds of an address overlap in the history.
func TestHoldsOfABlockDoNotOverlap(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/31"))
	var mu sync.Mutex
	now := b.clock.read()
	ticking := func() time.Time { // each call returns a later time
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Microsecond)
		return now
	}
	store, err := crdb.Open(b.ctx, b.dsn, crdb.Options{Region: region})
	require.NoError(t, err)
	t.Cleanup(store.Close)
	s := alloc.New(store, alloc.Options{Region: region, Clock: ticking})
	var wait sync.WaitGroup
	for caller := range 16 {
		wait.Go(func() {
			for n := range 12 {
				name := fmt.Sprintf("c%d-%d", caller, n)
				_, err := s.CreateClaim(b.ctx, project, claimOf(name, "net", length(32)), usecase.Request{})
				if ipam.IsCode(err, ipam.CodePoolExhausted) {
					continue
				}
				if err == nil {
					err = s.DeleteClaim(b.ctx, project, name, usecase.Request{})
				}
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	wait.Wait()
	holds := 0
	for _, addr := range []string{"10.0.0.0", "10.0.0.1"} {
		var later *ipam.Hold
		for _, h := range all(t, 100, func(n int, c string) (paging.Page[ipam.Hold], error) {
			return s.GetHistory(b.ctx, project, address(addr), time.Time{}, n, c, usecase.Reading{})
		}) {
			require.False(t, h.Until.Before(h.Since))
			if later != nil {
				require.False(t, later.Since.Before(h.Until), "%s held %s until %s, %s from %s", h.Holder, h.Block, h.Until, later.Holder, later.Since)
			}
			later = &h
			holds++
		}
	}
	require.Greater(t, holds, 16, "blocks must have changed hands")
}
