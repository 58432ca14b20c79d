package crdb

// Connections is the state of a store's connections to the database.
type Connections struct {
	Used  int64 // lent out
	Idle  int64
	Max   int64
	Waits int64 // how often somebody had to wait for one since Open
}

// Connections says how many connections are open and what they do.
func (s *Store) Connections() Connections {
	now := s.pool.Stat()
	return Connections{
		Used: int64(now.AcquiredConns()), Idle: int64(now.IdleConns()), Max: int64(now.MaxConns()), Waits: now.EmptyAcquireCount(),
	}
}
