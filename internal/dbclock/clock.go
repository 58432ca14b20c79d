// Package dbclock estimates the time of the database's clock without a query for each use.
//
// Some decisions depend on time: the end of a cool-down, the expiry of a key, and the order of records. Every server must decide the same, but the
// clocks of servers differ. All servers share one database, so they use the database's clock. A server reads this clock from time to time, and also
// reads its own monotonic clock before and after. Between two reads of the database's clock, it adds the time that its monotonic clock measures. The
// server's wall clock does not matter.
package dbclock

import (
	"sync"
	"time"
)

// drift is the largest difference that two free-running clocks can gain in a second. A quartz clock is wrong by up to 0.1 ms per second, and NTP
// corrects a clock by up to 0.5 ms per second.
const drift = 600 * time.Microsecond

// Clock estimates the time of a database's clock. The zero Clock has no estimate, so call Measured first.
type Clock struct {
	mu   sync.Mutex
	best measurement
}

// measurement is one reading of the database's clock. The database read its clock at an unknown moment between two readings of the local clock. So
// the middle of these two readings is wrong by at most half of their distance.
type measurement struct {
	local time.Time // the middle of the two local readings, with a monotonic reading
	read  time.Time // the database's clock
	wrong time.Duration
}

// Measured adds a reading of the database's clock. The database was asked at the local time asked and replied at the local time replied. Both times
// are from time.Now and contain monotonic readings.
//
// The Clock keeps its most exact measurement. A newer measurement replaces it if it is at least as exact, or if the two contradict each other. A
// contradiction has one of three reasons: the database's clock was set, another server has taken over the database, or this machine was asleep.
func (c *Clock) Measured(asked, replied, reading time.Time) {
	half := replied.Sub(asked) / 2
	m := measurement{local: asked.Add(half), read: reading, wrong: half}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.best.local.IsZero() {
		c.best = m
		return
	}
	since := m.local.Sub(c.best.local)
	worn := c.best.maxError(m.local)
	apart := m.read.Sub(c.best.read.Add(since)).Abs()
	if m.wrong <= worn || apart > worn+m.wrong {
		c.best = m
	}
}

// At returns the time of the database's clock at a local time. local is from time.Now and contains a monotonic reading.
func (c *Clock) At(local time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.best.read.Add(local.Sub(c.best.local))
}

// Earliest returns a lower bound for the database's clock at a local time.
func (c *Clock) Earliest(local time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.best.read.Add(local.Sub(c.best.local) - c.best.maxError(local))
}

// Latest returns an upper bound for the database's clock at a local time.
func (c *Clock) Latest(local time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.best.read.Add(local.Sub(c.best.local) + c.best.maxError(local))
}

// maxError returns the largest possible error of a measurement at a local time. The error grows with the age of the measurement.
func (m measurement) maxError(local time.Time) time.Duration {
	return m.wrong + time.Duration(local.Sub(m.local).Seconds()*float64(drift))
}

// Now returns the current time of the database's clock.
func (c *Clock) Now() time.Time { return c.At(time.Now()) }
