package app

import (
	"time"

	"golang.org/x/time/rate"

	"github.com/carve-ipam/carve/internal/guard"
	"github.com/carve-ipam/carve/internal/telemetry"
)

// otherFiles is how many open files are kept for what is not a client: the database, the data of an embedded one, certificates, the log.
const otherFiles = 192

// maxClients is how many connections there may be: as --max-clients says, within what the system has files for. Beyond that, accepting fails, and nobody
// would be closed to make room.
func (a *App) maxClients(c Config) int {
	most := c.MaxClients
	files, known := openFiles()
	room := max(fewestClients, files-otherFiles-2*c.MaxConnections)
	switch {
	case !known && most == 0:
		return largestClients
	case !known:
		return most
	case most == 0:
		return min(room, largestClients)
	case room < most:
		a.Log.Warn("there are fewer open files than --max-clients asks for; more are closed to make room", "clients", room, "asked", most, "openFiles", files)
		return room
	}
	return most
}

// outOfClients tells the log, now and then, that there are as many connections as there may be.
func (a *App) outOfClients(listener string) func(guard.Load) {
	said := rate.Sometimes{Interval: saySeldom}
	return func(l guard.Load) {
		said.Do(func() {
			a.Log.Warn("there are as many connections as there may be: one that was without a request is closed for each new one, or the new one if there is none such",
				"listener", listener, "most", l.Most, "closedSoFar", l.Evicted, "refusedSoFar", l.Refused)
		})
	}
}

// saySeldom is how often the log says at most what hostile clients could make it say for each connection.
const saySeldom = 10 * time.Second

// The listeners, in metrics and in the log.
const (
	listenerAPI   = "api"
	listenerAdmin = "admin"
)

// watchClients has the connections of clients counted, once all listeners are there.
func (a *App) watchClients() error {
	return a.metrics.WatchClients(func() []telemetry.Clients {
		all := []telemetry.Clients{clientsOf(listenerAPI, a.clients.Load())}
		if a.admin != nil {
			all = append(all, clientsOf(listenerAdmin, a.admin.clients.Load()))
		}
		return all
	})
}

// clientsOf says it in the words of the metrics.
func clientsOf(listener string, l guard.Load) telemetry.Clients {
	return telemetry.Clients{
		Listener: listener, Open: int64(l.Open), Max: int64(l.Most), Closed: map[string]int64{"evicted": l.Evicted, "refused": l.Refused},
	}
}
