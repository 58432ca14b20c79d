package consistency

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// holding is an existing claim with the position of its block in the pool.
type holding struct {
	first, size int // in units
	claim       int // number of its name in the history
}

// state is one state of one pool. Equal states are equal under ==, because porcupine compares them in this way.
type state struct {
	pool *Pool
	held string // the holdings, encoded and sorted by first
}

const encodedHolding = 8

func (s state) holdings() []holding {
	out := make([]holding, 0, len(s.held)/encodedHolding+1)
	for b := []byte(s.held); len(b) > 0; b = b[encodedHolding:] {
		out = append(out, holding{
			first: int(binary.BigEndian.Uint16(b)), size: int(binary.BigEndian.Uint16(b[2:])), claim: int(binary.BigEndian.Uint32(b[4:])),
		})
	}
	return out
}

func (s state) with(list []holding) state {
	b := make([]byte, 0, len(list)*encodedHolding)
	for _, h := range list {
		b = binary.BigEndian.AppendUint16(b, uint16(h.first)) //nolint:gosec // at most 4096, as in size
		b = binary.BigEndian.AppendUint16(b, uint16(h.size))  //nolint:gosec // see above
		b = binary.BigEndian.AppendUint32(b, uint32(h.claim)) //nolint:gosec // fewer claims than that fit into memory
	}
	s.held = string(b)
	return s
}

// free reports whether no unit of a block is held.
func (s state) free(first, size int) bool {
	for _, h := range s.holdings() {
		if h.first < first+size && first < h.first+h.size {
			return false
		}
	}
	return true
}

// places returns the first units of all free blocks with the given size.
func (s state) places(size int) []int {
	var out []int
	for first := 0; size > 0 && first < s.pool.units(); first += size {
		if s.free(first, size) {
			out = append(out, first)
		}
	}
	return out
}

func (s state) holds(claim int) bool {
	return slices.ContainsFunc(s.holdings(), func(h holding) bool { return h.claim == claim })
}

// take returns the state with an additional claim, whose block must be free.
func (s state) take(h holding) state {
	list := s.holdings()
	i, _ := slices.BinarySearchFunc(list, h, func(a, b holding) int { return a.first - b.first })
	return s.with(slices.Insert(list, i, h))
}

// give returns the state without a claim.
func (s state) give(claim int) state {
	return s.with(slices.DeleteFunc(s.holdings(), func(h holding) bool { return h.claim == claim }))
}

func (s state) describe(names []string) string {
	if s.pool == nil {
		return "empty"
	}
	parts := []string{}
	for _, h := range s.holdings() {
		bits := s.pool.Unit
		for size := h.size; size > 1; size >>= 1 {
			bits--
		}
		parts = append(parts, fmt.Sprintf("%v %s", s.pool.at(h.first, bits), names[h.claim]))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
