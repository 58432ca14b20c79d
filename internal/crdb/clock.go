package crdb

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/dbclock"
)

// How often a store asks for the database's time, how often in a row at first, and how long an answer may take.
const (
	clockEvery   = time.Second
	clockSamples = 3 // the first one may have made the connection
	clockLimit   = 5 * time.Second
)

// storeClock is the database's clock, as this process knows it.
type storeClock struct {
	dbclock.Clock

	local func() time.Time
}

func newStoreClock(local func() time.Time) *storeClock {
	if local == nil {
		local = time.Now
	}
	return &storeClock{local: local}
}

// Now implements storage.Store.
func (c *storeClock) Now() time.Time {
	return c.At(c.local()).UTC()
}

// mostDoubt is how much too early a record may be that is not made under a lock, which tells the time: with a clock that is known less exactly, locks are taken.
const mostDoubt = 2 * time.Millisecond

// exact reports whether the time is known well enough.
func (c *storeClock) exact() bool {
	now := c.local()
	return c.At(now).Sub(c.Clock.Earliest(now)) < mostDoubt
}

// Earliest is what time it is at least.
func (c *storeClock) Earliest() time.Time {
	return c.Clock.Earliest(c.local()).UTC()
}

// Latest returns an upper bound for the time.
func (c *storeClock) Latest() time.Time {
	return c.Clock.Latest(c.local()).UTC()
}

// Latest implements storage.Store.
func (s *Store) Latest() time.Time { return s.clock.Latest() }

// Now is what time it is by the database's clock, which is everybody's. It asks nobody: it counts on from the last time that the store has asked, to
// within half of how long that took.
func (s *Store) Now() time.Time { return s.clock.Now() }

// readClock asks the database for its time, once and without trying again.
func (s *Store) readClock(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, clockLimit)
	defer cancel()
	c, err := s.pool.Acquire(ctx) // before the question: whoever waits for a connection has not asked yet
	if err != nil {
		return err
	}
	defer c.Release()
	var read time.Time
	asked := s.clock.local()
	if err := c.QueryRow(ctx, query.Get("clock_read")).Scan(&read); err != nil {
		return err
	}
	s.clock.Measured(asked, s.clock.local(), read)
	return nil
}

// keepClock asks again from time to time, until the store is closed, and whether this program may go on. While the database does not answer the clock
// runs on by itself.
func (s *Store) keepClock(ctx context.Context) {
	ticker := time.NewTicker(clockEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := s.readClock(ctx); err != nil && ctx.Err() == nil {
			s.log.DebugContext(ctx, "the database's clock cannot be read", "error", err)
		}
		if err := s.checkCompatible(ctx); err != nil && ctx.Err() == nil {
			s.log.DebugContext(ctx, "it cannot be read whether this program may work on the database", "error", err)
		}
	}
}
