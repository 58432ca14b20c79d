package telemetry

import (
	"time"

	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// Connections is the database connection pool's state.
type Connections struct {
	Used   int64 // in use
	Idle   int64
	Max    int64
	Waits  int64         // waits for a connection since the start
	Waited time.Duration // their total time
}

// WatchConnections registers metrics about the connection pool. Each scrape calls the function read. Call WatchConnections once.
func (m *Metrics) WatchConnections(read func() Connections) error {
	return m.watch("the connections", func(s collection) {
		now := read()
		put(s, ofConnections, now.Used, semconv.DBClientConnectionStateUsed)
		put(s, ofConnections, now.Idle, semconv.DBClientConnectionStateIdle)
		put(s, ofMaxConnections, now.Max)
		put(s, ofWaits, now.Waits)
		put(s, ofWaited, now.Waited.Seconds())
	}, ofConnections, ofMaxConnections, ofWaits, ofWaited)
}
