package rivals

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
)

const (
	poolCIDR    = "10.0.0.0/8"
	addressBits = 32 // prefix length of all claimed blocks
)

// numbered is the range of all addresses. It begins with the shared pool, and the pools of single clients follow.
var numbered = netip.MustParsePrefix("10.0.0.0/7")

// number returns an address's number, counted from the first address of the range. It returns an error for any other block.
func number(p netip.Prefix) (uint64, error) {
	if p.Bits() != addressBits || !numbered.Contains(p.Addr()) {
		return 0, fmt.Errorf("%s was handed out, which is no address of %s", p, numbered)
	}
	a, first := p.Addr().As4(), numbered.Addr().As4()
	return uint64(binary.BigEndian.Uint32(a[:]) - binary.BigEndian.Uint32(first[:])), nil
}

// doubles counts faults: the numbers that were handed out twice, and the numbers below first. Those were held from the beginning.
func doubles(handed []uint64, first uint64) int {
	sorted := slices.Sorted(slices.Values(handed))
	n := 0
	for i, v := range sorted {
		if v < first || i > 0 && sorted[i-1] == v {
			n++
		}
	}
	return n
}
