package app

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/telemetry"
)

// Values for --metrics. Each names the clients that may read the metrics.
const (
	metricsLoopback = "loopback"
	metricsAdmin    = "admin"
	metricsOpen     = "open"
	metricsOff      = "off"
)

// recordAttempt records the end of an attempt at a transaction or read in the metrics.
func (a *App) recordAttempt(t crdb.Attempt) {
	a.metrics.AttemptEnded(context.Background(), t.Op, t.End, t.SQLState)
}

func (a *App) connections() telemetry.Connections {
	return telemetry.Connections(a.store.Connections())
}

// maxWaiting returns the limit on claims and releases that wait for one pool. The default is the limit on concurrent requests, so that this limit is
// reached first under overload. A refusal there costs much less than a refusal after all checks. The result 0 selects the limit of package alloc.
func maxWaiting(c Config) int {
	if c.MaxWaiting > 0 {
		return c.MaxWaiting
	}
	return c.MaxInFlight
}

func (a *App) load(service *alloc.Service) telemetry.Load {
	requests, queues := a.inFlight.Load(), service.Queues()
	followers, followed := service.Followers()
	alerts, late := service.AlertCounts()
	return telemetry.Load{
		InFlight: requests.Now, MaxInFlight: requests.Max, WaitForSlot: requests.Waiting, Waiting: queues.Waiting, Longest: queues.Longest,
		Oldest: service.OldestUndelivered(), Followers: int64(followers), Followed: int64(followed),
		Alerts: alerts, AlertsLate: late,
		Shed: map[string]int64{"in_flight": requests.Full, "caller": requests.Greedy, "pool": queues.Refused},
	}
}

// slotWait is the time that a request without a slot waits for one before it is refused. Retry-After has the same value. ADR 19 has a measurement at
// four times the load that saturates the server: without this wait, the throughput falls to a third.
const slotWait = time.Second
