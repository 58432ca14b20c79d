package telemetry

import (
	"time"

	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// Connections is the state of a pool of connections to the database.
type Connections struct {
	Used   int64 // lent out
	Idle   int64
	Max    int64
	Waits  int64         // how often somebody had to wait for one since the start
	Waited time.Duration // how long, all of them together
}

// WatchConnections asks for the state of the pool whenever the metrics are read. Call it once.
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
