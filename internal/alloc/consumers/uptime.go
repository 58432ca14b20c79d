package consumers

import "time"

// longestGap is the longest time without a database response that still counts as service. After a longer time, the server's serving time starts at
// zero again.
const longestGap = 10 * time.Second

// margin is twice the largest clock difference between two database nodes. A server waits for this time after a consumer's expiry.
const margin = time.Second

// uptime is the time span in which this server has served without a gap. The server may end a consumer as lost only after it has served for the
// consumer's whole TTL. Before that time, the consumer may have been unable to reach the server.
type uptime struct{ since, last time.Time }

// beat records that the database responds.
func (s *uptime) beat(now time.Time) {
	if s.last.IsZero() || now.Sub(s.last) > longestGap {
		s.since = now
	}
	s.last = now
}

// longestTTL returns the longest TTL of a consumer that this server may end as lost.
func (s *uptime) longestTTL(now time.Time) time.Duration { return now.Sub(s.since) - margin }
