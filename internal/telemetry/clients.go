package telemetry

// Clients describes the connections of clients to one listener.
type Clients struct {
	Listener string // api or admin
	Open     int64
	Max      int64
	Closed   map[string]int64 // connections closed at the limit since the start, by reason: evicted or refused
}

// WatchClients registers metrics about client connections. Each scrape calls the function read. Call WatchClients once.
func (m *Metrics) WatchClients(read func() []Clients) error {
	return m.watch("the connections of clients", func(s collection) {
		for _, now := range read() {
			listener := labelListener.String(now.Listener)
			put(s, ofClients, now.Open, listener)
			put(s, ofMaxClients, now.Max, listener)
			for reason, n := range now.Closed {
				put(s, ofClosedClients, n, listener, labelReason.String(reason))
			}
		}
	}, ofClients, ofMaxClients, ofClosedClients)
}
