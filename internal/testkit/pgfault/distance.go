package pgfault

import (
	"maps"
	"sync"
	"time"
)

// Distances are how far other regions are from the region of a proxy, as round trips. They can be changed while they are
// in use.
type Distances struct {
	mu  sync.Mutex
	far map[string]time.Duration
}

// NewDistances makes the distances of some regions; a region that is not named is near.
func NewDistances(far map[string]time.Duration) *Distances {
	return &Distances{far: maps.Clone(far)}
}

// Set changes the distance of all regions. Statements that have not been decided yet go by it.
func (d *Distances) Set(far map[string]time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.far = maps.Clone(far)
}

// Latency delays whatever goes to another region: each statement that says the region's name (Event.Says), and the COMMIT
// of a transaction that has, by the longest way that is named. Reads of tables that every region has a copy of say no region,
// and are near. A value that happens to be called like a region is taken for it, so regions need names that nothing else has.
func (d *Distances) Latency() Fault {
	gone := map[int]time.Duration{} // by connection: how far its transaction has gone
	return func(e Event) Action {
		var far time.Duration
		switch e.Kind {
		case Prepare, Connect, Begin, Rollback:
			if e.Kind != Prepare {
				delete(gone, e.Conn)
			}
			return Action{}
		case Commit:
			far = max(gone[e.Conn], d.of(e))
			delete(gone, e.Conn)
		default:
			far = d.of(e)
			if e.InTx && far > gone[e.Conn] {
				gone[e.Conn] = far
			}
		}
		if far == 0 {
			return Action{}
		}
		return Action{Name: "RegionLatency", Delay: far}
	}
}

func (d *Distances) of(e Event) (far time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for region, way := range d.far {
		if way > far && e.Says(region) {
			far = way
		}
	}
	return far
}
