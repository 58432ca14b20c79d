package telemetry

import (
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Load is how much there is to do, and what was refused because it was too much.
type Load struct {
	InFlight    int64                     // requests that are worked on
	MaxInFlight int64                     // that can be; 0: there is no bound
	AtTheDoor   int64                     // requests that wait to be worked on
	Waiting     int64                     // claims and releases that wait for their pool's turn
	Longest     int64                     // that wait for the same pool, the one for which most wait
	Oldest      time.Duration             // how long the delivery to a webhook has been tried that has been for longest
	Followers   int64                     // that are told of changes, or wait for some
	Followed    int64                     // projects that they follow
	Alerts      map[ipam.AlertAbout]int64 // that there are in this region, by what they are about
	AlertsLate  time.Duration             // how long the alert rule waits for a look that does for longest
	Shed        map[string]int64          // requests that were refused since the start, by what there was too much of
}

// WatchLoad asks for the load whenever the metrics are read. Call it once.
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
