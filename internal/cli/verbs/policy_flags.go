package verbs

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/carve-ipam/carve/internal/cli/show"
)

// longestPolicy is the longest time that a policy of the contract may say: a year.
const longestPolicy = 8760 * time.Hour

// policySpan is a flag for a time that a policy says, as the contract spells it: whole seconds, and 0s too. In a `set` it can
// be none.
type policySpan struct {
	text      string
	clearable bool
}

// String, Set and Type implement pflag.Value.
func (s *policySpan) String() string { return s.text }

// Set takes a duration, with days.
func (s *policySpan) Set(text string) error {
	if s.clearable && text == None {
		s.text = None
		return nil
	}
	d, err := parseDuration(text)
	if zero, other := time.ParseDuration(text); other == nil && zero == 0 {
		d, err = 0, nil // at once, whatever a pool says
	}
	switch {
	case err != nil:
		return fmt.Errorf("must be a duration like 10m, 72h or 3d")
	case d%time.Second != 0 || d > longestPolicy:
		return fmt.Errorf("must be whole seconds, and a year (8760h) at most")
	}
	s.text = spelled(d)
	return nil
}

// Type is what the help calls the value.
func (*policySpan) Type() string { return "duration" }

// spelled is a duration without the parts that are zero: 72h, 1h30m, 0s.
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

// SameSpan spells a duration in one way, so that 90m is 1h30m; what is none stays.
func SameSpan(s string) string {
	if d, err := time.ParseDuration(s); err == nil {
		return spelled(d)
	}
	return s
}
