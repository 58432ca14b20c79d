package scale

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"net/netip"
)

// The arithmetic of what is held and what is free is done here, not by the code that is measured.

// span is n units, of which the numbers in taken (in ascending order) are held.
type span struct {
	units int
	taken func(i int) bool
}

// freeBlocks is the largest aligned blocks of what is not taken, as (first unit, units): in order, none the buddy of another.
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

// front is the span of which the first n units are held. What is free is found without looking at each unit.
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

// scattered is n of the units, chosen at random (the same ones each time), in ascending order.
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

// nth is the nth address of an IPv4 block.
func nth(block netip.Prefix, n int) netip.Addr {
	raw := block.Addr().As4()
	binary.BigEndian.PutUint32(raw[:], binary.BigEndian.Uint32(raw[:])+uint32(n)) //nolint:gosec // inside the block
	return netip.AddrFrom4(raw)
}
