package e2e

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// clients is the number of concurrent callers.
const clients = 64

func TestParallelClientsFillAPool(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		spec   obj
		length int
		blocks int
	}{
		"BestFit":  {obj{"cidr": "10.0.0.0/22"}, 32, 1024},
		"FirstFit": {obj{"cidr": "10.0.0.0/20", "allocation": obj{"strategy": "FirstFit"}}, 29, 512},
		"Random":   {obj{"cidr": "2001:db8::/48", "allocation": obj{"strategy": "Random"}}, 57, 512},
		"Sparse":   {obj{"cidr": "2001:db8::/119", "allocation": obj{"strategy": "Sparse"}}, 128, 512},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.pool(t, "p", tc.spec)
			l := newLedger(tc.blocks + 1)
			var wg sync.WaitGroup
			for i := range clients {
				wg.Go(func() { l.hoard(t.Context(), t, w.caller, fmt.Sprintf("c%d", i), from("p", tc.length), func() {}) })
			}
			wg.Wait()
			l.holds(t, w.caller, tc.blocks)
			require.Len(t, l.refused, clients, "each was told so once")
			require.Zero(t, l.unknown)
			require.Zero(t, w.available(t, "p").Sign())
		})
	}
}

// Clients claim and release blocks of all sizes concurrently. Each client checks that no other client has its blocks.
func TestParallelClientsClaimAndRelease(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.pool(t, "p", obj{"cidr": "10.0.0.0/24"})
	whole := w.available(t, "p")
	held := &holdings{blocks: map[string]string{}}
	var wg sync.WaitGroup
	for i := range clients / 4 {
		wg.Go(func() { held.churn(t, w.caller, i, 40) })
	}
	wg.Wait()
	require.Equal(t, whole, w.available(t, "p"), "all came back")
	require.Equal(t, new(24), w.getPool(t, "p").Status.LargestFreePrefixLength)
}
