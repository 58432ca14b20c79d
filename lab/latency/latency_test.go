package latency_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/lab/latency"
)

func TestPercentiles(t *testing.T) {
	t.Parallel()
	times := []time.Duration{5, 1, 4, 2, 3}
	for percent, want := range map[int]time.Duration{0: 1, 50: 3, 99: 5, 100: 5} {
		require.Equal(t, want, latency.Percentile(times, percent), percent)
	}
	require.Zero(t, latency.Percentile(nil, 50))
}

func TestMilliseconds(t *testing.T) {
	t.Parallel()
	require.InEpsilon(t, 1500.25, latency.Milliseconds(1500250*time.Microsecond), 1e-9)
}
