package main

import (
	"regexp"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

// varying matches values that differ in each run. Each group is one kind of value. Later commands of a page use the printed values, except durations.
var varying = regexp.MustCompile(strings.Join([]string{
	`(?P<token>\bcarve_[0-9a-z]+_[0-9A-Za-z_-]+)`,
	`(?P<uuid>\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b)`,
	`(?P<hash>\b(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32})\b)`,
	`(?P<time>\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z)`,
	`(?P<date>\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT)`,
	`(?P<cursor>\beyJ[0-9A-Za-z_-]{8,})`,
	`(?P<duration>\b(?:\d+m)?\d+(?:\.\d+)?(?:ms|µs|s)\b)`,
}, "|"))

const anything = "…"

var wide = regexp.MustCompile(`(\S)[ \t]{2,}`)

// normal returns a line without its varying values.
func normal(line string) string {
	line = varying.ReplaceAllStringFunc(line, func(s string) string { return "<" + kindOf(s) + ">" })
	line = wide.ReplaceAllString(line, "$1  ")
	return strings.TrimRight(line, " \t")
}

func kindOf(s string) string {
	m := varying.FindStringSubmatch(s)
	for i, name := range varying.SubexpNames() {
		if i > 0 && m[i] != "" {
			return name
		}
	}
	return ""
}

// same reports whether a line matches the page's line.
func same(said, got string) bool {
	said, got = normal(said), normal(got)
	if !strings.Contains(said, anything) {
		return said == got
	}
	parts := strings.Split(said, anything)
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(got)
}

// match compares the page's lines with the output. For each line of the page, it returns the index of the output line, or -1 for a "…".
func match(said, got []string) (pairs []int, ok bool) {
	if len(said) == 0 {
		return nil, len(got) == 0
	}
	if strings.TrimSpace(said[0]) == anything {
		for skip := 0; skip <= len(got); skip++ {
			if rest, ok := match(said[1:], got[skip:]); ok {
				return join(-1, shift(rest, skip)), true
			}
		}
		return nil, false
	}
	if len(got) == 0 || !same(said[0], got[0]) {
		return nil, false
	}
	rest, ok := match(said[1:], got[1:])
	return join(0, shift(rest, 1)), ok
}

func join(first int, rest []int) []int { return append([]int{first}, rest...) }

func shift(pairs []int, by int) []int {
	for i := range pairs {
		if pairs[i] >= 0 {
			pairs[i] += by
		}
	}
	return pairs
}

// among compares like match, but the output may have other lines before, between and after the page's lines. If a line is missing, among returns that
// line.
func among(said, got []string) (pairs []int, missing string) {
	at := 0
	for _, line := range said {
		for at < len(got) && !same(line, got[at]) {
			at++
		}
		if at == len(got) {
			return nil, line
		}
		pairs = append(pairs, at)
		at++
	}
	return pairs, ""
}

// carried maps the varying values on the page to the printed values, and back.
type carried struct{ printed, said map[string]string }

func newCarried() *carried {
	return &carried{printed: map[string]string{}, said: map[string]string{}}
}

// learn records the values of matching lines.
func (c *carried) learn(said, got []string, pairs []int) {
	for i, at := range pairs {
		if at < 0 {
			continue
		}
		theirs, ours := varying.FindAllString(said[i], -1), varying.FindAllString(got[at], -1)
		if len(theirs) != len(ours) {
			continue // a "…" hides some values
		}
		for j := range theirs {
			if kind := kindOf(theirs[j]); kind != "duration" && kind == kindOf(ours[j]) {
				c.printed[theirs[j]], c.said[ours[j]] = ours[j], theirs[j]
			}
		}
	}
}

// command returns a command with the printed values in place of the page's values, as if a reader had copied them.
func (c *carried) command(text string) string { return replaceAll(text, c.printed) }

// output returns an output with the page's values in place of the printed values.
func (c *carried) output(text string) string { return replaceAll(text, c.said) }

func replaceAll(text string, by map[string]string) string {
	return varying.ReplaceAllStringFunc(text, func(s string) string {
		if other, ok := by[s]; ok {
			return other
		}
		return s
	})
}

// difference shows both texts without their varying values.
func difference(said, got []string) string {
	lines := func(from []string) []string {
		to := make([]string, len(from))
		for i := range from {
			to[i] = normal(from[i]) + "\n"
		}
		return to
	}
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{A: lines(said), B: lines(got), FromFile: "the page", ToFile: "printed", Context: 2})
	if err != nil {
		return err.Error()
	}
	return text
}
