// Package dbclock computes the time of a database's clock without asking the database each time.
//
// Decisions that depend on time (the end of a cool-down, a key's expiry, the record order) must be the same on every server, and servers'
// clocks differ. All servers share one database, so they use its clock. A server reads it now and then, notes its own monotonic clock before and
// after the read, and counts on from there. The server's wall clock does not matter.
package dbclock

import (
	"sync"
	"time"
)

// drift is the maximum divergence of two free-running clocks per second: quartz is off by up to 0.1 ms, and NTP slews a clock by up to 0.5 ms.
const drift = 600 * time.Microsecond

// Clock estimates a database's clock. The zero Clock has no estimate: call Measured first.
type Clock struct {
	mu   sync.Mutex
	best measurement
}

// measurement is one reading of the database's clock. The database read its clock at an unknown moment between the two local readings, so the error
// of their middle is at most half of the time between them.
type measurement struct {
	local time.Time // the middle, with its monotonic reading
	read  time.Time // the database's clock
	wrong time.Duration
}

// Measured adds a reading: the database's clock was read at some moment between asked and told. Both are from time.Now and carry monotonic readings.
// The Clock keeps the most exact measurement until a newer one is at least as exact or contradicts it. A contradiction means that the database's
// clock was set, that another server has taken over the database, or that this machine was asleep.
func (c *Clock) Measured(asked, told, read time.Time) {
	half := told.Sub(asked) / 2
	m := measurement{local: asked.Add(half), read: read, wrong: half}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.best.local.IsZero() {
		c.best = m
		return
	}
	since := m.local.Sub(c.best.local)
	worn := c.best.doubt(m.local)
	apart := m.read.Sub(c.best.read.Add(since)).Abs()
	if m.wrong <= worn || apart > worn+m.wrong {
		c.best = m
	}
}

// At returns the database's clock at a local time, which is from time.Now and carries a monotonic reading.
func (c *Clock) At(local time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.best.read.Add(local.Sub(c.best.local))
}

// Earliest returns a lower bound for the database's clock at a local time.
func (c *Clock) Earliest(local time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.best.read.Add(local.Sub(c.best.local) - c.best.doubt(local))
}

// Latest returns an upper bound for the database's clock at a local time.
func (c *Clock) Latest(local time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.best.read.Add(local.Sub(c.best.local) + c.best.doubt(local))
}

// doubt returns the largest possible error of a measurement at a local time.
func (m measurement) doubt(local time.Time) time.Duration {
	return m.wrong + time.Duration(local.Sub(m.local).Seconds()*float64(drift))
}

// Now returns the database's clock now.
func (c *Clock) Now() time.Time { return c.At(time.Now()) }
