package verbs

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/carve-ipam/carve/internal/cli/show"
)

// longestPolicy is the contract's maximum for a policy's duration: a year.
const longestPolicy = 8760 * time.Hour

// policySpan parses a policy's duration and spells it as the contract does, in whole seconds. It allows 0s.
func policySpan(text string) (string, error) {
	d, err := parseDuration(text)
	if zero, other := time.ParseDuration(text); other == nil && zero == 0 {
		d, err = 0, nil // at once, even if the pool has a value
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

// Moment makes a flag for a point in time: RFC 3339, or a duration before now.
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

// After makes a flag for a duration, which may contain days; the document contains its end.
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

// parseDuration parses a Go duration, optionally after a number of days (of 24 hours): 90m, 36h, 30d, 1d12h.
func parseDuration(s string) (time.Duration, error) {
	const most = 100 * 365 // days; a duration ends at 292 years
	rest, total := s, time.Duration(0)
	if days, after, found := strings.Cut(s, "d"); found {
		n, err := strconv.ParseUint(days, 10, 32)
		if err != nil || n > most {
			return 0, fmt.Errorf("must be a duration like 90m, 36h or 30d")
		}
		rest, total = after, time.Duration(n)*24*time.Hour
	}
	if rest != "" {
		d, err := time.ParseDuration(rest)
		if err != nil || d < 0 || d > most*24*time.Hour {
			return 0, fmt.Errorf("must be a duration like 90m, 36h or 30d")
		}
		total += d
	}
	if total <= 0 {
		return 0, fmt.Errorf("must be a duration longer than 0, like 90m, 36h or 30d")
	}
	return total, nil
}

// spelled returns a duration without the parts that are zero: 72h, 1h30m, 0s.
func spelled(d time.Duration) string {
	var b strings.Builder
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}} {
		if n := d / unit.of; n > 0 {
			b.WriteString(strconv.FormatInt(int64(n), 10) + unit.name)
			d %= unit.of
		}
	}
	return show.FirstOf(b.String(), "0s")
}

// SameSpan normalizes a duration, so that 90m is 1h30m; it returns other texts unchanged.
func SameSpan(s string) string {
	if d, err := time.ParseDuration(s); err == nil {
		return spelled(d)
	}
	return s
}
