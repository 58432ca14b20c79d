package consumers

import "time"

// longestGap is the longest time without a database response before this server restarts the count of its serving time.
const longestGap = 10 * time.Second

// margin is added to a consumer's expiry: twice the largest clock difference between two nodes of a database.
const margin = time.Second

// uptime is the time span in which this server has served without a gap. The server ends a consumer as lost only after it has served for the
// consumer's whole TTL, because before that the server may have been unreachable.
type uptime struct{ since, last time.Time }

// beat records that the database responds.
func (s *uptime) beat(now time.Time) {
	if s.last.IsZero() || now.Sub(s.last) > longestGap {
		s.since = now
	}
	s.last = now
}

// longestTTL returns the longest TTL that this server may judge.
func (s *uptime) longestTTL(now time.Time) time.Duration { return now.Sub(s.since) - margin }
