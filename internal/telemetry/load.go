package telemetry

import (
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Load is the server's load, with the number of requests that the server has refused because of it.
type Load struct {
	InFlight    int64                     // requests in progress
	MaxInFlight int64                     // limit of InFlight; 0: no limit
	AtTheDoor   int64                     // requests that wait for a slot
	Waiting     int64                     // claims and releases in the queues of their pools
	Longest     int64                     // length of the longest pool queue
	Oldest      time.Duration             // age of the oldest undelivered webhook message
	Followers   int64                     // followers of the feed
	Followed    int64                     // projects with followers
	Alerts      map[ipam.AlertAbout]int64 // alerts of this region, by subject
	AlertsLate  time.Duration             // longest delay of an alert rule's evaluation
	Shed        map[string]int64          // refused requests since the start, by reason
}

// WatchLoad registers the metrics of the load. Each scrape calls read. Call WatchLoad once.
func (m *Metrics) WatchLoad(read func() Load) error {
	k := maker{meter: m.meter}
	inFlight, limit, door := k.gauge(ofInFlight), k.gauge(ofMaxInFlight), k.gauge(ofAtTheDoor)
	waiting, longest, shed := k.gauge(ofQueue), k.gauge(ofLongest), k.count(ofShed)
	oldest := k.figure(ofOldest)
	followers, followed := k.gauge(ofFollowers), k.gauge(ofFollowed)
	alerts, late := k.gauge(ofAlerts), k.figure(ofAlertsLate)
	return k.watch("the load", func(o metric.Observer) {
		now := read()
		o.ObserveInt64(inFlight, now.InFlight)
		o.ObserveInt64(limit, now.MaxInFlight)
		o.ObserveInt64(door, now.AtTheDoor)
		o.ObserveInt64(waiting, now.Waiting)
		o.ObserveInt64(longest, now.Longest)
		o.ObserveFloat64(oldest, now.Oldest.Seconds())
		o.ObserveInt64(followers, now.Followers)
		o.ObserveInt64(followed, now.Followed)
		o.ObserveFloat64(late, now.AlertsLate.Seconds())
		for what, n := range now.Alerts {
			o.ObserveInt64(alerts, n, metric.WithAttributes(labelAbout.String(string(what))))
		}
		for reason, n := range now.Shed {
			o.ObserveInt64(shed, n, metric.WithAttributes(labelReason.String(reason)))
		}
	})
}
