package chaos

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// String summarizes a run in one line.
func (r Result) String() string {
	s := fmt.Sprintf("%s seed %d: %d operations, %d requests, %d attempts (%d were repeats), %d judged, %.1f s", r.Mix, r.Seed, r.Operations, r.Requests, r.Attempts, r.Tally["attempt: again"], r.Judged, r.Took.Seconds())
	if r.Unjudged > 0 {
		s += fmt.Sprintf(", %d not judged in time", r.Unjudged)
	}
	if r.Err != nil {
		s += fmt.Sprintf(", BROKEN: %v", r.Err)
	}
	if len(r.Violations) > 0 {
		s += fmt.Sprintf(", VIOLATED: %s", strings.Join(r.Checks(), ", "))
	}
	return s
}

// Checks returns the names of the violated checks without duplicates.
func (r Result) Checks() []string {
	seen := map[string]bool{}
	for _, v := range r.Violations {
		seen[v.Check] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// write prints each violation with the log lines about it, at most the given number of lines.
func (r Result) write(w io.Writer, l *ledger, limit int) {
	_, _ = fmt.Fprintln(w, r)
	for _, v := range r.Violations {
		_, _ = fmt.Fprintf(w, "\n%v\n", v)
		lines := l.about(v.About)
		for i, line := range lines {
			if i == limit {
				_, _ = fmt.Fprintf(w, "    and %d lines more\n", len(lines)-i)
				break
			}
			_, _ = fmt.Fprintln(w, "    "+line)
		}
	}
}
