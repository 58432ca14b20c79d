package ipam

import (
	"strings"
	"time"
)

// MaxDuration is the longest duration in a spec, a year.
const MaxDuration = 8760 * time.Hour

// CheckDuration validates an optional duration. The duration must be whole seconds, from 0 to MaxDuration.
func CheckDuration(pointer string, d *time.Duration) error {
	if d == nil {
		return nil
	}
	if *d < 0 || *d > MaxDuration || *d%time.Second != 0 {
		return Invalid(pointer, "must be whole seconds, 0s to %s.", DurationText(MaxDuration))
	}
	return nil
}

// DurationText formats a duration in the shortest usual form, such as 72h, 1h30m or 45s.
func DurationText(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
