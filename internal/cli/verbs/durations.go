package verbs

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// longestPolicy is the contract's maximum for a policy's duration: a year.
const longestPolicy = 8760 * time.Hour

// policySpan parses a policy's duration. It returns the contract's spelling, in whole seconds. It allows 0s.
func policySpan(text string) (string, error) {
	d, err := parseDuration(text)
	if zero, other := time.ParseDuration(text); other == nil && zero == 0 {
		d, err = 0, nil // 0 means "at once", even if the pool has another value
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("must be a duration like 10m, 72h or 3d")
	case d%time.Second != 0 || d > longestPolicy:
		return "", fmt.Errorf("must be whole seconds, and a year (8760h) at most")
	}
	return spelled(d), nil
}

// Policy makes a flag for a policy's duration.
func Policy(_ string, clearable bool) Value {
	return &Plain{kind: "duration", clearable: clearable, take: policySpan}
}

// Moment makes a flag for a point in time. The value is a time in RFC 3339, or a duration that is subtracted from now.
func Moment(now func() time.Time) Maker {
	return func(string, bool) Value {
		return &Plain{kind: "time", take: func(text string) (string, error) {
			t, err := time.Parse(time.RFC3339, text)
			if d, ago := parseDuration(text); ago == nil {
				t, err = now().Add(-d).UTC().Truncate(time.Second), nil
			}
			if err != nil {
				return "", fmt.Errorf("must be a time like 2026-03-03T12:00:00Z, or an age like 90m or 3d")
			}
			return t.Format(time.RFC3339Nano), nil
		}}
	}
}

// After makes a flag for a duration, which may contain days. The document contains the time at which that duration ends.
func After(now func() time.Time) Maker {
	return func(string, bool) Value {
		var d time.Duration
		return &Plain{
			kind: "duration", take: func(text string) (_ string, err error) {
				d, err = parseDuration(text)
				return text, err
			},
			Read: func(string) (any, error) { return now().Add(d).UTC().Truncate(time.Second), nil },
		}
	}
}

// parseDuration parses a Go duration. Days, which have 24 hours, may come first. Examples are 90m, 36h, 30d and 1d12h.
func parseDuration(s string) (time.Duration, error) {
	const limit = 100 * 365 // days; a time.Duration holds at most 292 years
	rest, total := s, time.Duration(0)
	if days, after, found := strings.Cut(s, "d"); found {
		n, err := strconv.ParseUint(days, 10, 32)
		if err != nil || n > limit {
			return 0, fmt.Errorf("must be a duration like 90m, 36h or 30d")
		}
		rest, total = after, time.Duration(n)*24*time.Hour
	}
	if rest != "" {
		d, err := time.ParseDuration(rest)
		if err != nil || d < 0 || d > limit*24*time.Hour {
			return 0, fmt.Errorf("must be a duration like 90m, 36h or 30d")
		}
		total += d
	}
	if total <= 0 {
		return 0, fmt.Errorf("must be a duration longer than 0, like 90m, 36h or 30d")
	}
	return total, nil
}

// spelled formats a duration without the parts that are zero, as in 72h, 1h30m and 0s.
func spelled(d time.Duration) string { return withoutZeros.Replace(d.String()) }

var withoutZeros = strings.NewReplacer("h0m0s", "h", "h0m", "h", "m0s", "m")

// SameSpan returns a duration's normal form, for example 1h30m for 90m. If the text is no duration, it returns the text unchanged.
func SameSpan(s string) string {
	if d, err := time.ParseDuration(s); err == nil {
		return spelled(d)
	}
	return s
}
