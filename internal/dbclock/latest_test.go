package dbclock_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/dbclock"
)

func TestTimeIsBetweenTheEarliestAndTheLatest(t *testing.T) {
	t.Parallel()
	var c dbclock.Clock
	asked := time.Now()
	c.Measured(asked, asked.Add(2*ms), noon)
	for _, after := range []time.Duration{ms, time.Second, time.Hour} {
		now := asked.Add(after)
		maxError := ms + time.Duration((after-ms).Seconds()*float64(600*time.Microsecond))
		require.Equal(t, noon.Add(after-ms), c.At(now))
		require.Equal(t, c.At(now).Add(-maxError), c.Earliest(now))
		require.Equal(t, c.At(now).Add(maxError), c.Latest(now))
	}
}
