// Package latency summarizes durations, for tools and benchmarks.
package latency

import (
	"slices"
	"time"
)

// Percentile returns the duration that the given percentage of all durations does not exceed. It returns 0 for an empty list, and it sorts the list.
func Percentile(times []time.Duration, percent int) time.Duration {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[min(len(times)*percent/100, len(times)-1)]
}

// Milliseconds returns a duration in milliseconds, the unit of the reports.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
