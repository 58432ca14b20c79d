package verbs

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Moment is a flag for a point in time that may be absent: RFC 3339, or how long ago.
type Moment struct {
	Now func() time.Time
	at  *time.Time
}

// String, Set and Type implement pflag.Value.
func (m *Moment) String() string {
	if m.at == nil {
		return ""
	}
	return m.at.Format(time.RFC3339Nano)
}

func (m *Moment) document() (any, error) { return m.at, nil }

// Set takes a time, or a duration before now.
func (m *Moment) Set(s string) error {
	if d, err := parseDuration(s); err == nil {
		t := m.Now().Add(-d).UTC().Truncate(time.Second)
		m.at = &t
		return nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return fmt.Errorf("must be a time like 2026-03-03T12:00:00Z, or how long ago, like 90m or 3d")
	}
	m.at = &t
	return nil
}

// Type is what the help calls the value.
func (*Moment) Type() string { return "time" }

// Span is a flag for a length of time that days may be part of; a document has when it is over.
type Span struct {
	time.Duration
	Now func() time.Time
}

// String, Set and Type implement pflag.Value.
func (s *Span) String() string {
	if s.Duration == 0 {
		return ""
	}
	return s.Duration.String()
}

// Set takes a duration.
func (s *Span) Set(text string) (err error) {
	s.Duration, err = parseDuration(text)
	return err
}

func (s *Span) document() (any, error) {
	return s.Now().Add(s.Duration).UTC().Truncate(time.Second), nil
}

// Type is what the help calls the value.
func (*Span) Type() string { return "duration" }

// parseDuration reads a duration as Go writes it, with days (of 24 hours) before it: 90m, 36h, 30d, 1d12h.
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
		return 0, fmt.Errorf("must be a duration of more than nothing, like 90m, 36h or 30d")
	}
	return total, nil
}
