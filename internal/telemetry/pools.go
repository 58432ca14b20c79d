package telemetry

import (
	"time"

	"go.opentelemetry.io/otel/metric"
)

// Pools is the state of the pools in one region, from the server's last sample.
type Pools struct {
	Fullest []PoolFigures    // fullest pools whose home is this region
	Scarce  []PoolFigures    // pools with another home that have the least free space in this region
	Fenced  []PoolName       // the first pools that cannot be used in this region; see ofFenced
	Count   map[string]int64 // pools whose home is this region, by fullness; nil: no complete sample yet
	Closed  map[string]int64 // number of pools that cannot be used, by region; nil: no complete sample yet
	Ended   time.Time        // end of the last complete sample; zero: none
	Took    time.Duration
}

// PoolName names a pool in a region.
type PoolName struct{ Project, Pool, Region string }

// PoolFigures is one pool's metrics.
type PoolFigures struct {
	PoolName

	Ratio  float64
	Runway time.Duration // negative: unknown
}

func (p PoolName) labels() metric.MeasurementOption {
	return metric.WithAttributes(labelProject.String(p.Project), labelPool.String(p.Pool), labelRegion.String(p.Region))
}

// WatchPools registers the metrics of pools. Each scrape calls read. If read no longer returns a pool, the pool has no series any more. Call
// WatchPools once.
func (m *Metrics) WatchPools(read func() Pools) error {
	k := maker{meter: m.meter}
	utilization, runway, stock, stockRunway := k.figure(ofUtilization), k.figure(ofRunway), k.figure(ofStock), k.figure(ofStockRunway)
	fullness, fenced, fencedPool := k.gauge(ofFullness), k.gauge(ofFenced), k.gauge(ofFencedPool)
	ended, took := k.figure(ofPassEnd), k.figure(ofPassTime)
	return k.watch("the pools", func(o metric.Observer) {
		now := read()
		tell := func(of []PoolFigures, ratio, lasts metric.Float64Observable) {
			for _, p := range of {
				labels := p.labels()
				o.ObserveFloat64(ratio, p.Ratio, labels)
				if p.Runway >= 0 {
					o.ObserveFloat64(lasts, p.Runway.Seconds(), labels)
				}
			}
		}
		tell(now.Fullest, utilization, runway)
		tell(now.Scarce, stock, stockRunway)
		for _, p := range now.Fenced {
			o.ObserveInt64(fencedPool, 1, p.labels())
		}
		for how, n := range now.Count {
			o.ObserveInt64(fullness, n, metric.WithAttributes(labelFullness.String(how)))
		}
		for region, n := range now.Closed {
			o.ObserveInt64(fenced, n, metric.WithAttributes(labelRegion.String(region)))
		}
		if !now.Ended.IsZero() {
			o.ObserveFloat64(ended, unix(now.Ended))
			o.ObserveFloat64(took, now.Took.Seconds())
		}
	})
}

func unix(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
