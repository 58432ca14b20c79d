// Package dbclock tells what time it is by the clock of a database, without asking it each time.
//
// What time decides (the end of a cool-down, whether a key has expired, the order of records) has to be the same on every server, and servers' clocks
// differ. They all have one database: its clock is everybody's. A server asks it now and then, notes when it had asked and when it was told by its own
// monotonic clock, and counts on from there. What its wall clock says is of no consequence.
package dbclock

import (
	"sync"
	"time"
)

// drift is by how much two clocks that run on their own may part in a second: quartz is off by up to 0.1 ms, and NTP steers a clock by up to 0.5 ms.
const drift = 600 * time.Microsecond

// Clock is the clock of a database, as far as it is known here. The zero Clock knows nothing: Measured has to be called first.
type Clock struct {
	mu   sync.Mutex
	best measurement
}

// measurement is one question and its answer. The database read its clock at some moment between the two local ones: which one is not known, so that
// half of the time between them is by how much the middle may be wrong.
type measurement struct {
	local time.Time // the middle, with its monotonic reading
	read  time.Time // what the database's clock said
	wrong time.Duration
}

// Measured takes in an answer: the database's clock said read at some moment after asked and before told, which are of time.Now and carry monotonic
// readings. The most exact measurement is kept for as long as it stays that, and as long as the newer ones do not contradict it: then the database's
// clock was set, another server has taken over the database, or this machine was asleep.
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

// At is what the database's clock says at a moment of this process, which is of time.Now and carries a monotonic reading.
func (c *Clock) At(local time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.best.read.Add(local.Sub(c.best.local))
}

// Earliest is what the database's clock says at least at a moment of this process.
func (c *Clock) Earliest(local time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.best.read.Add(local.Sub(c.best.local) - c.best.doubt(local))
}

// Latest returns an upper bound for the database's clock at a moment of this process.
func (c *Clock) Latest(local time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.best.read.Add(local.Sub(c.best.local) + c.best.doubt(local))
}

// doubt returns the largest error that a measurement can have at a moment.
func (m measurement) doubt(local time.Time) time.Duration {
	return m.wrong + time.Duration(local.Sub(m.local).Seconds()*float64(drift))
}

// Now is what the database's clock says now.
func (c *Clock) Now() time.Time { return c.At(time.Now()) }
