package app

import (
	"time"

	"golang.org/x/time/rate"

	"github.com/carve-ipam/carve/internal/guard"
	"github.com/carve-ipam/carve/internal/telemetry"
)

// otherFiles is the number of open files that the server needs for other purposes: the database, an embedded database's data, certificates, the log.
const otherFiles = 192

// maxClients returns the limit on connections. It reduces --max-clients if the system does not allow as many open files. Without the reduction, the
// server could run out of files. It could then not accept a new connection, and would not close an idle connection for it.
func (a *App) maxClients(c Config) int {
	limit := c.MaxClients
	files, known := openFiles()
	available := max(fewestClients, files-otherFiles-2*c.MaxConnections)
	switch {
	case !known && limit == 0:
		return largestClients
	case !known:
		return limit
	case limit == 0:
		return min(available, largestClients)
	case available < limit:
		a.Log.Warn("the limit on open files is too low for --max-clients; the server uses a lower limit on connections", "clients", available, "asked", limit, "openFiles", files)
		return available
	}
	return limit
}

// outOfClients returns a function that logs, at most once in logEvery, that the number of connections has reached the limit.
func (a *App) outOfClients(listener string) func(guard.Load) {
	logLimit := rate.Sometimes{Interval: logEvery}
	return func(l guard.Load) {
		logLimit.Do(func() {
			a.Log.Warn("the limit on connections is reached: the server closes an idle connection for each new one, or refuses the new one",
				"listener", listener, "most", l.Limit, "closedSoFar", l.Evicted, "refusedSoFar", l.Refused)
		})
	}
}

// logEvery is the minimum interval between log lines that a hostile client could cause with every connection.
const logEvery = 10 * time.Second

// The listeners' names, in metrics and in the log.
const (
	listenerAPI   = "api"
	listenerAdmin = "admin"
)

// watchClients registers the client connection metrics. Call it when all listeners exist.
func (a *App) watchClients() error {
	return a.metrics.WatchClients(func() []telemetry.Clients {
		var all []telemetry.Clients
		for _, d := range []*endpoint{a.main, a.admin} {
			if d != nil {
				l := d.clients.Load()
				all = append(all, telemetry.Clients{
					Listener: d.name, Open: int64(l.Open), Max: int64(l.Limit), Closed: map[string]int64{"evicted": l.Evicted, "refused": l.Refused},
				})
			}
		}
		return all
	})
}
