package app

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/telemetry"
)

// Who may read the metrics.
const (
	metricsLoopback = "loopback"
	metricsAdmin    = "admin"
	metricsOpen     = "open"
	metricsOff      = "off"
)

// attempted passes on how an attempt at a transaction or read ended.
func (a *App) attempted(t crdb.Attempt) {
	a.metrics.AttemptEnded(context.Background(), t.Op, t.End, t.SQLState)
}

// connections is the state of the store's connections, for whoever reads the metrics.
func (a *App) connections() telemetry.Connections {
	return telemetry.Connections(a.store.Connections())
}

// maxWaiting is how many claims and releases may wait for one pool. Where nobody says otherwise it is as many as may be in flight, so that what is
// too much is refused at the front, for much less than after it was checked and resolved. 0 leaves it to alloc, which has a bound of its own.
func maxWaiting(c Config) int {
	if c.MaxWaiting > 0 {
		return c.MaxWaiting
	}
	return c.MaxInFlight
}

// load is how much the server has to do, for whoever reads the metrics.
func (a *App) load(service *alloc.Service) telemetry.Load {
	requests, queues := a.inFlight.Load(), service.Queues()
	followers, followed := service.Followers()
	alerts, late := service.AlertsStand()
	return telemetry.Load{
		InFlight: requests.Now, MaxInFlight: requests.Max, AtTheDoor: requests.Waiting, Waiting: queues.Waiting, Longest: queues.Longest,
		Oldest: service.WebhooksWait(), Followers: int64(followers), Followed: int64(followed),
		Alerts: alerts, AlertsLate: late,
		Shed: map[string]int64{"in_flight": requests.Full, "caller": requests.Greedy, "pool": queues.Refused},
	}
}

// placeWait is how long a request that finds no place waits for one, or to be refused: as long as Retry-After says. Measured (ADR 19): what is served at
// four times the saturation falls to a third without it.
const placeWait = time.Second
