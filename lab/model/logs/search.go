package logs

import (
	"fmt"
	"strings"
)

// Result is a search's outcome.
type Result struct {
	States      int // distinct states after normalization
	Transitions int
	Depth       int // largest number of steps from the start

	Broken Promise // "" if every promise holds in every state
	Trace  []string
}

func (r Result) String() string {
	var s strings.Builder
	_, _ = fmt.Fprintf(&s, "%d states, %d transitions, depth %d", r.States, r.Transitions, r.Depth)
	if r.Broken != "" {
		_, _ = fmt.Fprintf(&s, "\n%s is broken:\n", r.Broken)
		for i, line := range r.Trace {
			_, _ = fmt.Fprintf(&s, "%3d  %s\n", i, line)
		}
	}
	return s.String()
}

// Check searches all reachable states within the bounds, breadth first. It stops at the first broken promise, and does not check the promises in
// ignore.
func Check(b Bounds, t Twin, ignore ...Promise) Result { return newSearch(b, t, ignore...).run() }

func newSearch(b Bounds, t Twin, ignore ...Promise) *search {
	s := &search{machine: machine{Bounds: b, twin: t}, number: map[state]uint32{}, ignore: map[Promise]bool{}}
	for _, p := range ignore {
		s.ignore[p] = true
	}
	return s
}

// search numbers the states in the order of their discovery.
type search struct {
	machine

	ignore map[Promise]bool
	number map[state]uint32
	parent []uint32 // for each state, the state from which the search first reached it
}

func (s *search) run() Result {
	var out Result
	first := s.start()
	s.normalize(&first)
	s.add(&first, 0)
	level, next := []state{first}, []state(nil)
	current := uint32(0)
	s.emit = func(_ step, n *state, p Promise) {
		if out.Broken != "" {
			return
		}
		out.Transitions++
		raw := *n
		s.normalize(n)
		fresh := s.add(n, current)
		if fresh {
			next = append(next, *n)
			p = s.unless(p).or(s.broken(&raw))
		}
		out.Broken = s.unless(p)
	}
	for len(level) > 0 && out.Broken == "" {
		for i := range level {
			if s.steps(&level[i]); out.Broken != "" {
				break
			}
			current++
		}
		level, next = next, level[:0]
		if len(level) > 0 || out.Broken != "" {
			out.Depth++
		}
	}
	out.States = len(s.parent)
	if out.Broken != "" {
		out.Trace = s.trace(current, out.Broken)
	}
	return out
}

// add stores a state if it is new.
func (s *search) add(n *state, parent uint32) (fresh bool) {
	if _, known := s.number[*n]; known {
		return false
	}
	s.number[*n] = uint32(len(s.parent)) //nolint:gosec // G115: four thousand million states do not fit the memory
	s.parent = append(s.parent, parent)
	return true
}

// unless returns a promise, or "" if the search ignores it.
func (s *search) unless(p Promise) Promise {
	if s.ignore[p] {
		return ""
	}
	return p
}

// trace repeats the steps that led to a state, and then the step that breaks a promise. The stored states are normalized, but the trace's are
// not. So each of its steps leads to a state that is equivalent to the stored one.
func (s *search) trace(last uint32, broken Promise) []string {
	var way []uint32
	for i := last; i != 0; i = s.parent[i] {
		way = append(way, i)
	}
	now := s.start()
	lines := []string{s.picture(&now)}
	for i := len(way) - 1; i >= -1; i-- {
		found := false
		s.emit = func(a step, n *state, p Promise) {
			if found {
				return
			}
			if i < 0 {
				found = s.unless(s.unless(p).or(s.broken(n))) == broken
			} else {
				found = s.isState(*n, way[i])
			}
			if found {
				lines = append(lines, fmt.Sprintf("%-60s %s", a, s.picture(n)))
				now = *n
			}
		}
		from := now
		s.steps(&from)
		if !found {
			panic("logs: a step of the trace cannot be repeated")
		}
	}
	return lines
}

// isState reports whether a state is equivalent to the stored state with a number.
func (s *search) isState(n state, number uint32) bool {
	s.shortenAll(&n)
	return s.anySwap(n, func(n *state) bool {
		stored, known := s.number[*n]
		return known && stored == number
	})
}
