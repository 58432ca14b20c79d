package crdb

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/dbclock"
)

// Limits for readings of the database's clock. clockEvery is the interval between two readings. clockSamples is the number of readings when a store
// opens. clockLimit is the time limit for one reading.
const (
	clockEvery   = time.Second
	clockSamples = 3 // the first reading may include the time to connect, which makes its error large
	clockLimit   = 5 * time.Second
)

// storeClock estimates the time of the database's clock. Between two readings it adds the time that the local clock measures.
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

// maxClockError limits the error of the estimated time that a transaction without a lock records. (A lock returns the exact time.) While the error is
// larger, transactions take locks.
const maxClockError = 2 * time.Millisecond

// isExact reports whether the estimate's error is below maxClockError.
func (c *storeClock) isExact() bool {
	now := c.local()
	return c.At(now).Sub(c.Clock.Earliest(now)) < maxClockError
}

// Earliest returns a lower bound for the time.
func (c *storeClock) Earliest() time.Time {
	return c.Clock.Earliest(c.local()).UTC()
}

// Latest returns an upper bound for the time.
func (c *storeClock) Latest() time.Time {
	return c.Clock.Latest(c.local()).UTC()
}

// Latest implements storage.Store.
func (s *Store) Latest() time.Time { return s.clock.Latest() }

// Now returns the database's time, which all servers share. It sends no query: it adds the time that has passed since the last reading. Its error is
// at most half that reading's round trip.
func (s *Store) Now() time.Time { return s.clock.Now() }

// readClock reads the database's clock once, without a retry.
func (s *Store) readClock(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, clockLimit)
	defer cancel()
	c, err := s.pool.Acquire(ctx) // acquired before the measurement begins, because the wait for a connection must not count
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

// keepClock reads the database's clock once a second, until the store is closed. It also checks whether this program may still use the database.
// While the database does not respond, the estimate continues from the last reading.
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
			s.log.DebugContext(ctx, "cannot read the clock of the database", "error", err)
		}
		if err := s.checkCompatible(ctx); err != nil && ctx.Err() == nil {
			s.log.DebugContext(ctx, "cannot read whether this program may use the database", "error", err)
		}
	}
}
