package telemetry

import "go.opentelemetry.io/otel/metric"

// Clients is the state of the connections from clients to one listener.
type Clients struct {
	Listener string // api or admin
	Open     int64
	Max      int64
	Closed   map[string]int64 // connections closed at the limit since the start, by reason: evicted or refused
}

// WatchClients registers the metrics of client connections. Each scrape calls read. Call WatchClients once.
func (m *Metrics) WatchClients(read func() []Clients) error {
	k := maker{meter: m.meter}
	open, limit, closed := k.gauge(ofClients), k.gauge(ofMaxClients), k.count(ofClosedClients)
	return k.watch("the connections of clients", func(o metric.Observer) {
		for _, now := range read() {
			listener := labelListener.String(now.Listener)
			o.ObserveInt64(open, now.Open, metric.WithAttributes(listener))
			o.ObserveInt64(limit, now.Max, metric.WithAttributes(listener))
			for reason, n := range now.Closed {
				o.ObserveInt64(closed, n, metric.WithAttributes(listener, labelReason.String(reason)))
			}
		}
	})
}
