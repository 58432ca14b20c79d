package dbclock_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/dbclock"
)

// noon is the time of the database's clock when a test begins.
var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

const ms = time.Millisecond

func TestClockFollowsTheDatabaseDespiteTheLocalClock(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{0, 10 * time.Minute, -20 * time.Minute} {
		var c dbclock.Clock
		began := time.Now().Add(off)
		c.Measured(began, began.Add(2*ms), noon)
		require.Equal(t, noon.Add(time.Hour-ms), c.At(began.Add(time.Hour)), off)
	}
}

func TestMostExactMeasurementIsUsedUntilItAges(t *testing.T) {
	t.Parallel()
	var c dbclock.Clock
	began := time.Now()
	after := func(d time.Duration) time.Time { return began.Add(d) }
	c.Measured(after(0), after(2*ms), noon.Add(ms))
	// The request took long and the response did not. So the middle of the two local readings is wrong by 50 ms.
	c.Measured(after(time.Second), after(time.Second+100*ms), noon.Add(time.Second+100*ms))
	require.Equal(t, noon.Add(2*time.Second), c.At(after(2*time.Second)), "it says nothing better")
	c.Measured(after(3*time.Second), after(3*time.Second+2*ms), noon.Add(3*time.Second+2*ms))
	require.Equal(t, noon.Add(4*time.Second+ms), c.At(after(4*time.Second)), "as exact as the first one was, and newer")
}

func TestClockFollowsAChangedDatabaseClock(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{time.Hour, -time.Hour, 300 * ms} {
		var c dbclock.Clock
		began := time.Now()
		c.Measured(began, began.Add(2*ms), noon.Add(ms))
		later := began.Add(time.Second)
		c.Measured(later, later.Add(100*ms), noon.Add(by+time.Second+50*ms)) // far less exact, but it contradicts the first reading
		require.Equal(t, noon.Add(by+2*time.Second), c.At(began.Add(2*time.Second)), by)
	}
}
