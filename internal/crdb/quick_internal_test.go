package crdb

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Without locks, a time that is known to a second is used as it is, because no lock orders later transactions.
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
		require.WithinDuration(t, want, (&quick{now: c.inOneTrip(e)}).Now(), 10*time.Microsecond)
	}
}
