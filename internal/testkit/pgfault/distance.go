package pgfault

import (
	"maps"
	"sync"
	"time"
)

// Distances holds the round-trip times from a proxy's region to other regions. They can change during use.
type Distances struct {
	mu        sync.Mutex
	distances map[string]time.Duration
}

// NewDistances returns the given distances. A region that is not in the map has no delay.
func NewDistances(distances map[string]time.Duration) *Distances {
	return &Distances{distances: maps.Clone(distances)}
}

// Set replaces all distances. The new distances apply to statements for which the proxy has not chosen an action yet.
func (d *Distances) Set(distances map[string]time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.distances = maps.Clone(distances)
}

// Latency delays statements to another region. These are the statements that contain the region's name as a value (Event.Says), and the COMMIT of a
// transaction with such a statement. If a statement names several regions, the longest distance applies. Reads of tables with a copy in every region
// name no region, so they have no delay. Any equal value counts as the region's name, so the names must be unique.
func (d *Distances) Latency() Fault {
	gone := map[int]time.Duration{} // longest distance in the current transaction, by connection
	return func(e Event) Action {
		var far time.Duration
		switch e.Kind {
		case Prepare, Connect, Begin, Rollback:
			if e.Kind != Prepare {
				delete(gone, e.Conn)
			}
			return Action{}
		case Commit:
			far = max(gone[e.Conn], d.longest(e))
			delete(gone, e.Conn)
		default:
			far = d.longest(e)
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

func (d *Distances) longest(e Event) (far time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for region, way := range d.distances {
		if way > far && e.Says(region) {
			far = way
		}
	}
	return far
}
