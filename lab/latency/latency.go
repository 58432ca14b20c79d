// Package latency sums up how long things took, for tools and benchmarks.
package latency

import (
	"slices"
	"time"
)

// Percentile is the time that so many percent of all did not exceed; 0 of none. It sorts them.
func Percentile(times []time.Duration, percent int) time.Duration {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[min(len(times)*percent/100, len(times)-1)]
}

// Milliseconds is a time as reports write it.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
