package app

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/telemetry"
)

// Values of --metrics: the clients that may read the metrics.
const (
	metricsLoopback = "loopback"
	metricsAdmin    = "admin"
	metricsOpen     = "open"
	metricsOff      = "off"
)

// attempted records the end of an attempt at a transaction or read.
func (a *App) attempted(t crdb.Attempt) {
	a.metrics.AttemptEnded(context.Background(), t.Op, t.End, t.SQLState)
}

// connections returns the state of the store's connections, for the metrics.
func (a *App) connections() telemetry.Connections {
	return telemetry.Connections(a.store.Connections())
}

// maxWaiting returns the limit of claims and releases that wait for one pool. The default is the limit of requests in flight: then an overload is
// refused at the front, which costs much less than a refusal after validation and resolution. 0 selects the limit of package alloc.
func maxWaiting(c Config) int {
	if c.MaxWaiting > 0 {
		return c.MaxWaiting
	}
	return c.MaxInFlight
}

// load returns the server's load, for the metrics.
func (a *App) load(service *alloc.Service) telemetry.Load {
	requests, queues := a.inFlight.Load(), service.Queues()
	followers, followed := service.Followers()
	alerts, late := service.AlertCounts()
	return telemetry.Load{
		InFlight: requests.Now, MaxInFlight: requests.Max, AtTheDoor: requests.Waiting, Waiting: queues.Waiting, Longest: queues.Longest,
		Oldest: service.OldestUndelivered(), Followers: int64(followers), Followed: int64(followed),
		Alerts: alerts, AlertsLate: late,
		Shed: map[string]int64{"in_flight": requests.Full, "caller": requests.Greedy, "pool": queues.Refused},
	}
}

// placeWait is the time that a request without a slot waits for one or for its refusal; Retry-After has the same value. By measurement (ADR 19), at
// four times the saturation the throughput falls to a third without this wait.
const placeWait = time.Second
