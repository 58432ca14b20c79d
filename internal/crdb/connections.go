package crdb

import (
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Connections is the state of a store's connections to the database.
type Connections struct {
	Used   int64 // lent out
	Idle   int64
	Max    int64
	Waits  int64         // how often somebody had to wait for one since Open
	Waited time.Duration // how long, all of them together
}

// Connections says how many connections are open and what they do.
func (s *Store) Connections() Connections {
	var c Connections
	for _, pool := range []*pgxpool.Pool{s.pool, s.followers} {
		now := pool.Stat()
		c.Used += int64(now.AcquiredConns())
		c.Idle += int64(now.IdleConns())
		c.Max += int64(now.MaxConns())
		c.Waits += now.EmptyAcquireCount()
		c.Waited += now.EmptyAcquireWaitTime()
	}
	return c
}
