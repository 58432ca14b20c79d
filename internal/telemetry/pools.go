package telemetry

import (
	"time"

	"go.opentelemetry.io/otel/metric"
)

// Pools is how the pools of a region stand, as the server last looked.
type Pools struct {
	Fullest []PoolFigures    // at home in the region
	Scarce  []PoolFigures    // at home elsewhere: what this region was lent of them
	Fenced  []PoolName       // the first of those that cannot be used here
	Count   map[string]int64 // pools at home, by how full they are; nil: they were not all looked at yet
	Closed  map[string]int64 // pools that cannot be used, by region; likewise
	Ended   time.Time        // the last look at all of them; zero: there was none
	Took    time.Duration
}

// PoolName names a pool in a region.
type PoolName struct{ Project, Pool, Region string }

// PoolFigures is what is told of one pool.
type PoolFigures struct {
	PoolName

	Ratio  float64
	Runway time.Duration // negative: not known
}

func (p PoolName) labels() metric.MeasurementOption {
	return metric.WithAttributes(labelProject.String(p.Project), labelPool.String(p.Pool), labelRegion.String(p.Region))
}

// WatchPools asks how the pools stand whenever the metrics are read. What is not among the answers any more has no series any more. Call it once.
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
