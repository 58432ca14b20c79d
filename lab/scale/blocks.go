package scale

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"net/netip"
)

// This file computes the held and free blocks itself, independently of the measured code.

// span is a range of equal units. taken reports whether unit i is held. Callers ask for the units in ascending order.
type span struct {
	units int
	taken func(i int) bool
}

// freeBlocks returns the largest aligned free blocks as (first unit, number of units), in order. No two of them can be merged.
func (s span) freeBlocks() [][2]int {
	var out [][2]int
	for at := 0; at < s.units; {
		if s.taken(at) {
			at++
			continue
		}
		end := at + 1
		for end < s.units && !s.taken(end) {
			end++
		}
		for at < end {
			size := 1 << (bits.Len(uint(end-at)) - 1)
			if at != 0 {
				size = min(size, at&-at)
			}
			out = append(out, [2]int{at, size})
			at += size
		}
	}
	return out
}

// front returns the free blocks of a range whose first n units are held. It does not visit each unit.
func front(units, n int) [][2]int {
	var out [][2]int
	for at := n; at < units; {
		size := units
		if at != 0 {
			size = at & -at
		}
		for at+size > units {
			size /= 2
		}
		out = append(out, [2]int{at, size})
		at += size
	}
	return out
}

// scattered returns n random units in ascending order. Each call returns the same units.
func scattered(units, n int) []int {
	r := rand.New(rand.NewPCG(5, 9)) //nolint:gosec // the same every time, which is the point
	taken := make([]bool, units)
	for _, i := range r.Perm(units)[:n] {
		taken[i] = true
	}
	out := make([]int, 0, n)
	for i, t := range taken {
		if t {
			out = append(out, i)
		}
	}
	return out
}

// nth returns the nth address of an IPv4 block.
func nth(block netip.Prefix, n int) netip.Addr {
	raw := block.Addr().As4()
	binary.BigEndian.PutUint32(raw[:], binary.BigEndian.Uint32(raw[:])+uint32(n)) //nolint:gosec // inside the block
	return netip.AddrFrom4(raw)
}
