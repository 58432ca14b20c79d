package crdb

import (
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Connections counts a store's connections to the database.
type Connections struct {
	Used   int64 // in use
	Idle   int64
	Max    int64
	Waits  int64         // requests since Open that had to wait for a connection
	Waited time.Duration // total time of these waits
}

// Connections returns the totals of both pools.
func (s *Store) Connections() Connections {
	var c Connections
	for _, pool := range []*pgxpool.Pool{s.pool, s.stale} {
		now := pool.Stat()
		c.Used += int64(now.AcquiredConns())
		c.Idle += int64(now.IdleConns())
		c.Max += int64(now.MaxConns())
		c.Waits += now.EmptyAcquireCount()
		c.Waited += now.EmptyAcquireWaitTime()
	}
	return c
}
