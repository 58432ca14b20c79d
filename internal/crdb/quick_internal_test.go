package crdb

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// If a store knows the time to within a second, it uses the earliest possible time on an engine with locks. On an engine without locks it uses the
// estimate, because no lock gives the next transaction a later time.
func TestPipelinedTransactionUsesTheEstimatedTimeWithoutLocks(t *testing.T) {
	t.Parallel()
	local, read := time.Now(), time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	c := newStoreClock(func() time.Time { return local })
	c.Measured(local.Add(-time.Second), local.Add(time.Second), read)
	for _, e := range []engine{postgres{}, cockroach{}} {
		want := read
		if e.locks() {
			want = read.Add(-time.Second)
		}
		require.WithinDuration(t, want, (&cachedTx{now: c.forOneRoundTrip(e)}).Now(), 10*time.Microsecond)
	}
}
