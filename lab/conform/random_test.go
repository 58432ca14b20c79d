package conform

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// random makes all random decisions in a run.
type random struct{ *rand.Rand }

func newRandom(seed uint64) random {
	return random{rand.New(rand.NewPCG(seed, seed^0x9e3779b97f4a7c15))}
}

// one returns true in one of n cases.
func (r random) one(n int) bool { return r.IntN(n) == 0 }

func pick[T any](r random, from []T) T { return from[r.IntN(len(from))] }

// some keeps each member with a chance of one half.
func (r random) some(of obj) obj {
	for _, name := range sorted(of) {
		if r.one(2) {
			delete(of, name)
		}
	}
	return of
}

// matching returns a text that matches a pattern and has a number of characters between minimum and maximum.
func (r random) matching(pattern string, minimum, maximum int) string {
	re := regexp.MustCompile(pattern)
	fits := func(s string) bool {
		n := utf8.RuneCountInString(s)
		return n >= minimum && n <= maximum && utf8.ValidString(s) && re.MatchString(s)
	}
	switch r.IntN(6) {
	case 0: // the shortest text
		for _, s := range []string{"", "0", "a", "0s", "10.0.0.0", "::", "::/0"} {
			if fits(s) {
				return s
			}
		}
	case 1: // the longest text
		for _, each := range []string{"a", "é", "😀", "0", "9", "Z"} {
			if s := strings.Repeat(each, maximum); fits(s) && (maximum < 2000 || r.one(4)) {
				return s
			}
		}
	case 2: // cases that implementations often forget
		s := pick(r, []string{"é", "日本語", "😀", "\u202eabc", "a\u0301", "\ufeff", "<b>&amp;</b>", "'; DROP TABLE claims; --", `\"`, "%00", "${x}", "null", "../..", "\u2028", "\U0010ffff"})
		if fits(s) {
			return s
		}
	}
	for range 50 {
		if s := rapid.StringMatching(pattern).Example(int(r.Uint32())); fits(s) {
			return s
		}
	}
	return ""
}
