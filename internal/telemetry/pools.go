package telemetry

import (
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Pools describes the pools in one region, from the server's last sample.
type Pools struct {
	Fullest []PoolFigures    // fullest pools whose home is this region
	Scarce  []PoolFigures    // pools with another home that have the least free space in this region
	Fenced  []ipam.Ref       // the first pools that cannot be used in this region; see ofFenced
	Count   map[string]int64 // pools whose home is this region, by fullness; nil: no complete sample yet
	Closed  int64            // pools that cannot be used in this region
	Ended   time.Time        // when the last complete sample ended; zero: none
	Took    time.Duration
}

// PoolFigures is one pool's metrics.
type PoolFigures struct {
	Pool   ipam.Ref
	Ratio  float64
	Runway time.Duration // negative: unknown
}

// WatchPools registers metrics about the pools in a region. Each scrape calls the function read. If read no longer returns a pool, the pool has no
// series any more. Call WatchPools once.
func (m *Metrics) WatchPools(region string, read func() Pools) error {
	here := labelRegion.String(region)
	labels := func(p ipam.Ref) []attribute.KeyValue {
		return []attribute.KeyValue{labelProject.String(p.Project), labelPool.String(p.Name), here}
	}
	return m.watch("the pools", func(s collection) {
		now := read()
		show := func(of []PoolFigures, ratio, lasts *observed[float64]) {
			for _, p := range of {
				put(s, ratio, p.Ratio, labels(p.Pool)...)
				if p.Runway >= 0 {
					put(s, lasts, p.Runway.Seconds(), labels(p.Pool)...)
				}
			}
		}
		show(now.Fullest, ofUtilization, ofRunway)
		show(now.Scarce, ofStock, ofStockRunway)
		for _, p := range now.Fenced {
			put(s, ofFencedPool, 1, labels(p)...)
		}
		for how, n := range now.Count {
			put(s, ofFullness, n, labelFullness.String(how))
		}
		if !now.Ended.IsZero() {
			put(s, ofFenced, now.Closed, here)
			put(s, ofPassEnd, unix(now.Ended))
			put(s, ofPassTime, now.Took.Seconds())
		}
	}, ofUtilization, ofRunway, ofStock, ofStockRunway, ofFencedPool, ofFullness, ofFenced, ofPassEnd, ofPassTime)
}

func unix(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
