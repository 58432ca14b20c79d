package model

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"strings"
)

// Result is a search's outcome.
type Result struct {
	States      int // distinct states; without Bounds.Plain, states that differ by swapped halves count once
	Transitions int
	Depth       int // largest number of steps from the start
	StateBytes  int // size of a stored state

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

// Check searches all reachable states within the bounds. It stops at the first broken promise, and does not check the promises in ignore.
func Check(b Bounds, t Twin, ignore ...Promise) Result { return newSearch(b, t, ignore...).run() }

func newSearch(b Bounds, t Twin, ignore ...Promise) *search {
	s := &search{
		machine: machine{Bounds: b, twin: t, sum: newArithmetic(b.Size)},
		seed:    maphash.MakeSeed(), ignore: map[Promise]bool{}, drains: map[drain]bool{},
	}
	for _, p := range ignore {
		s.ignore[p] = true
	}
	return s
}

// search stores the states in the order of their discovery.
type search struct {
	machine

	ignore map[Promise]bool
	visit  func(*state) // if set, called with every state that the search finds
	seed   maphash.Seed
	width  int
	packed []byte   // the states, each in width bytes
	parent []uint32 // for each state, the state from which the search first reached it
	table  []uint32 // hash table with open addressing: 1 + the number of a state, or 0 for an empty entry
	drains map[drain]bool
	buffer []byte
}

// drain is the part of a state that decides whether the pool can become usable again. The search caches that result.
type drain struct {
	free, loans [maxRegions]mask
	rows        [maxClients]row
	stale       uint8
}

func (s *search) run() Result {
	var out Result
	first := s.start()
	s.table = make([]uint32, 1<<16)
	s.add(&first, 0)
	level, parents := []state{first}, []uint32{0}
	var current uint32
	var next []state
	var ends []uint32
	s.emit = func(_ step, n *state, p Promise) {
		out.Transitions++
		if out.Broken != "" {
			return
		}
		if p == Tiling && s.ignore[p] {
			return // a block was put where one of its parts was free, so the search does not continue from here
		}
		if s.ignore[p] {
			p = ""
		}
		s.canonical(n)
		index, fresh := s.add(n, current)
		if fresh && s.visit != nil {
			s.visit(n)
		}
		if p == "" && fresh {
			p = s.check(n)
		}
		if p != "" {
			out.Broken = p
			return
		}
		if fresh {
			next, ends = append(next, *n), append(ends, index)
		}
	}
	for len(level) > 0 && out.Broken == "" {
		next, ends = nil, nil
		for i := range level {
			current = parents[i]
			s.steps(&level[i])
			if out.Broken != "" {
				break
			}
		}
		level, parents = next, ends
		if len(level) > 0 || out.Broken != "" {
			out.Depth++
		}
	}
	out.States, out.StateBytes = len(s.parent), s.width
	if out.Broken != "" {
		out.Trace = s.trace(current, out.Broken)
	}
	return out
}

// check returns the first promise that a state breaks, or "".
func (s *search) check(n *state) Promise {
	if p := s.broken(n); p != "" && !s.ignore[p] {
		return p
	}
	d := drain{free: n.free, loans: n.loans, stale: n.stale}
	for i := range s.Asks {
		d.rows[i] = n.client[i].row
	}
	ok, known := s.drains[d]
	if !known {
		ok = s.drained(*n)
		s.drains[d] = ok
	}
	if !ok && !s.ignore[UsableAgain] {
		return UsableAgain
	}
	return ""
}

// add stores a state if it is new.
func (s *search) add(n *state, parent uint32) (index uint32, fresh bool) {
	s.buffer = s.pack(s.buffer[:0], n)
	s.width = len(s.buffer)
	if 2*len(s.parent) > len(s.table) {
		s.grow()
	}
	at := s.find(s.buffer)
	if s.table[at] != 0 {
		return s.table[at] - 1, false
	}
	s.packed, s.parent = append(s.packed, s.buffer...), append(s.parent, parent)
	s.table[at] = uint32(len(s.parent)) //nolint:gosec // G115: four thousand million states do not fit the memory
	return s.table[at] - 1, true
}

// find returns the position of a state in the table, or the free position for it.
func (s *search) find(packed []byte) int {
	last := len(s.table) - 1
	at := int(maphash.Bytes(s.seed, packed)) & last //nolint:gosec // G115: bits are bits
	for s.table[at] != 0 && !bytes.Equal(s.stored(s.table[at]-1), packed) {
		at = (at + 1) & last
	}
	return at
}

func (s *search) stored(index uint32) []byte {
	return s.packed[int(index)*s.width : (int(index)+1)*s.width]
}

func (s *search) grow() {
	s.table = make([]uint32, 2*len(s.table))
	for i := range s.parent {
		s.table[s.find(s.stored(uint32(i)))] = uint32(i) + 1
	}
}

// trace repeats the steps that led to a state, and then the step that breaks a promise. The stored states have swapped halves, but the trace has
// none. So each of its steps leads to a state that is equivalent to the stored one.
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
			like := *n
			s.canonical(&like)
			if i >= 0 {
				found = bytes.Equal(s.pack(nil, &like), s.stored(way[i]))
			} else {
				if s.ignore[p] {
					p = ""
				}
				if p == "" {
					p = s.check(n)
				}
				found = p == broken
			}
			if found {
				lines = append(lines, fmt.Sprintf("%-44s %s", s.describe(a), s.picture(n)))
				now = *n
			}
		}
		from := now
		s.steps(&from)
		if !found {
			panic("model: a step of the trace cannot be repeated")
		}
	}
	return lines
}

// picture returns a state in one line.
func (m *machine) picture(s *state) string {
	var out strings.Builder
	for r := range m.Regions {
		fmt.Fprintf(&out, "%s: free%s", m.regionName(r), m.short(s.free[r]))
		if r > 0 {
			fmt.Fprintf(&out, " lent%s", m.short(s.loans[r]))
		}
		for i, region := range m.Asks {
			if c := s.client[i]; region == r && c.row.ask != 0 {
				fmt.Fprintf(&out, " claim%d.%d%s", i+1, c.row.ask, m.short(mask(0).with(c.row.at)))
			}
		}
		if s.isStale(r) {
			out.WriteString(" STALE")
		}
		out.WriteString("; ")
	}
	for i := range m.Asks {
		if c := s.client[i]; c.phase == held {
			fmt.Fprintf(&out, "client %d was told%s; ", i+1, m.short(mask(0).with(c.told)))
		}
	}
	return strings.TrimSuffix(out.String(), "; ")
}

func (m *machine) short(blocks mask) string {
	if blocks == 0 {
		return " none"
	}
	var out strings.Builder
	for n := range blocks.each {
		fmt.Fprintf(&out, " .%d/%d", m.sum.prefixes[n].Addr().As4()[3], m.sum.prefixes[n].Bits())
	}
	return out.String()
}
