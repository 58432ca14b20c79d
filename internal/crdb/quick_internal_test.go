package crdb

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The error of a store's clock is one second. On an engine with locks, the transaction uses the earliest possible time, because the next transaction
// gets a later time from its lock. On an engine without locks no lock gives that time, so the transaction uses the estimate.
func TestPipelinedTransactionUsesTheEstimatedTimeWithoutLocks(t *testing.T) {
	t.Parallel()
	local, read := time.Now(), time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	c := newStoreClock(func() time.Time { return local })
	c.Measured(local.Add(-time.Second), local.Add(time.Second), read)
	for _, e := range []engine{postgres{}, cockroach{}} {
		want := read
		if e.usesLocks() {
			want = read.Add(-time.Second)
		}
		require.WithinDuration(t, want, (&cachedTx{now: c.forOneRoundTrip(e)}).Now(), 10*time.Microsecond)
	}
}
