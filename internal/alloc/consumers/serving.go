package consumers

import "time"

// longestGap is how long the database may not have been heard of before this server counts anew since when it serves.
const longestGap = 10 * time.Second

// margin is by how much a consumer's time must be over: twice what the clocks of two nodes of a database may be apart.
const margin = time.Second

// serving is since when this server has served without a gap. Nobody who lives for a time is taken for lost before it has served for that time: until then
// it may have been we who could not be reached.
type serving struct{ since, last time.Time }

// beat notes that the database answers.
func (s *serving) beat(now time.Time) {
	if s.last.IsZero() || now.Sub(s.last) > longestGap {
		s.since = now
	}
	s.last = now
}

// longest is the longest time to live that may be judged.
func (s *serving) longest(now time.Time) time.Duration { return now.Sub(s.since) - margin }
