package telemetry

import (
	"time"

	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// Connections is the state of the database connection pool.
type Connections struct {
	Used   int64 // in use
	Idle   int64
	Max    int64
	Waits  int64         // waits for a connection since the start
	Waited time.Duration // total time of the waits
}

// WatchConnections registers the metrics of the connection pool. Each scrape calls read. Call WatchConnections once.
func (m *Metrics) WatchConnections(read func() Connections) error {
	k := maker{meter: m.meter}
	open, limit, waits, waited := k.level(ofConnections), k.level(ofMaxConnections), k.count(ofWaits), k.sum(ofWaited)
	return k.watch("the connections", func(o metric.Observer) {
		now := read()
		o.ObserveInt64(open, now.Used, metric.WithAttributes(semconv.DBClientConnectionStateUsed))
		o.ObserveInt64(open, now.Idle, metric.WithAttributes(semconv.DBClientConnectionStateIdle))
		o.ObserveInt64(limit, now.Max)
		o.ObserveInt64(waits, now.Waits)
		o.ObserveFloat64(waited, now.Waited.Seconds())
	})
}
