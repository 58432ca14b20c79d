package rivals

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
)

var poolBlock = netip.MustParsePrefix(poolCIDR)

// number is the number of a block among those of its length in the pool. A block of another length, or from elsewhere, is an error:
// nobody asked for it.
func number(p netip.Prefix, bits int) (uint64, error) {
	if p.Bits() != bits || !poolBlock.Contains(p.Addr()) || p != p.Masked() {
		return 0, fmt.Errorf("%s was handed out, which is no /%d of %s", p, bits, poolBlock)
	}
	a, first := p.Addr().As4(), poolBlock.Addr().As4()
	return uint64(binary.BigEndian.Uint32(a[:])-binary.BigEndian.Uint32(first[:])) >> (addressBits - bits), nil
}

// block is the block of a number.
func block(n, bits int) netip.Prefix {
	var a [4]byte
	first := poolBlock.Addr().As4()
	binary.BigEndian.PutUint32(a[:], binary.BigEndian.Uint32(first[:])+uint32(n)<<(addressBits-bits)) //nolint:gosec // the pool has 2²⁴ addresses
	return netip.PrefixFrom(netip.AddrFrom4(a), bits)
}

// doubles counts what was handed out although somebody had it: what was handed out before, and what was held from the beginning.
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
