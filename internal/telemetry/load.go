package telemetry

import (
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Load is the server's load. It also counts the requests that the server has refused because of its load.
type Load struct {
	InFlight    int64                     // requests in progress
	MaxInFlight int64                     // limit on InFlight; 0: no limit
	WaitForSlot int64                     // requests that wait for a slot
	Waiting     int64                     // claims and releases in their pools' queues
	Longest     int64                     // the longest pool queue's length
	Oldest      time.Duration             // the oldest undelivered webhook message's age
	Followers   int64                     // the feed's followers
	Followed    int64                     // projects with followers
	Alerts      map[ipam.AlertAbout]int64 // this region's alerts, by subject
	AlertsLate  time.Duration             // longest delay of the evaluation of an alert rule
	Shed        map[string]int64          // refused requests since the start, by reason
}

// WatchLoad registers metrics about the load. Each scrape calls the function read. Call WatchLoad once.
func (m *Metrics) WatchLoad(read func() Load) error {
	return m.watch("the load", func(s collection) {
		now := read()
		put(s, ofInFlight, now.InFlight)
		put(s, ofMaxInFlight, now.MaxInFlight)
		put(s, ofWaitForSlot, now.WaitForSlot)
		put(s, ofQueue, now.Waiting)
		put(s, ofLongest, now.Longest)
		put(s, ofOldest, now.Oldest.Seconds())
		put(s, ofFollowers, now.Followers)
		put(s, ofFollowed, now.Followed)
		put(s, ofAlertsLate, now.AlertsLate.Seconds())
		for what, n := range now.Alerts {
			put(s, ofAlerts, n, labelAbout.String(string(what)))
		}
		for reason, n := range now.Shed {
			put(s, ofShed, n, labelReason.String(reason))
		}
	}, ofInFlight, ofMaxInFlight, ofWaitForSlot, ofQueue, ofLongest, ofOldest, ofFollowers, ofFollowed, ofAlerts, ofAlertsLate, ofShed)
}
