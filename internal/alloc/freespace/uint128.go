package freespace

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"net/netip"
)

// uint128 is an address as a number. IPv4 addresses use the low 32 bits, so both families use the same arithmetic. Callers keep the width, 32 or 128,
// separately. Unlike netip.Addr, uint128 has no pointer, so long sorted slices are cheap to shift.
type uint128 struct{ hi, lo uint64 }

func numberOf(a netip.Addr) uint128 {
	if a.Is4() {
		b := a.As4()
		return uint128{lo: uint64(binary.BigEndian.Uint32(b[:]))}
	}
	b := a.As16()
	return uint128{hi: binary.BigEndian.Uint64(b[:8]), lo: binary.BigEndian.Uint64(b[8:])}
}

// addr converts a number to an address. It is the inverse of numberOf. width is 32 or 128.
func (n uint128) addr(width int) netip.Addr {
	if width == 32 {
		var b [4]byte
		binary.BigEndian.PutUint32(b[:], uint32(n.lo)) //nolint:gosec // G115: of width 32 the number has 32 bits
		return netip.AddrFrom4(b)
	}
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], n.hi)
	binary.BigEndian.PutUint64(b[8:], n.lo)
	return netip.AddrFrom16(b)
}

// lowOnes returns a number with the lowest count bits set. count is 0..128. In Go, a shift by the full width gives 0, so no special case is
// necessary.
func lowOnes(count int) uint128 {
	if count <= 64 {
		return uint128{lo: 1<<count - 1}
	}
	return uint128{hi: 1<<(count-64) - 1, lo: ^uint64(0)}
}

// oneAt returns 2^position. position is 0..127.
func oneAt(position int) uint128 {
	if position < 64 {
		return uint128{lo: 1 << position}
	}
	return uint128{hi: 1 << (position - 64)}
}

func (n uint128) less(m uint128) bool { return n.hi < m.hi || n.hi == m.hi && n.lo < m.lo }

func (n uint128) compare(m uint128) int {
	return cmp.Or(cmp.Compare(n.hi, m.hi), cmp.Compare(n.lo, m.lo))
}

// add wraps around at 2^128.
func (n uint128) add(m uint128) uint128 {
	lo, carry := bits.Add64(n.lo, m.lo, 0)
	hi, _ := bits.Add64(n.hi, m.hi, carry)
	return uint128{hi, lo}
}

// sub wraps around below 0.
func (n uint128) sub(m uint128) uint128 {
	lo, borrow := bits.Sub64(n.lo, m.lo, 0)
	hi, _ := bits.Sub64(n.hi, m.hi, borrow)
	return uint128{hi, lo}
}

func (n uint128) or(m uint128) uint128     { return uint128{n.hi | m.hi, n.lo | m.lo} }
func (n uint128) xor(m uint128) uint128    { return uint128{n.hi ^ m.hi, n.lo ^ m.lo} }
func (n uint128) and(m uint128) uint128    { return uint128{n.hi & m.hi, n.lo & m.lo} }
func (n uint128) andNot(m uint128) uint128 { return uint128{n.hi &^ m.hi, n.lo &^ m.lo} }

// shiftLeft shifts n by count bits, and drops the bits that leave the top. count is 0..128.
func (n uint128) shiftLeft(count int) uint128 {
	if count >= 64 {
		return uint128{hi: n.lo << (count - 64)}
	}
	return uint128{hi: n.hi<<count | n.lo>>(64-count), lo: n.lo << count}
}

// bitLen returns the number of bits that are necessary to write n. For 0, it returns 0.
func (n uint128) bitLen() int {
	if n.hi != 0 {
		return 64 + bits.Len64(n.hi)
	}
	return bits.Len64(n.lo)
}

// trailingZeros counts the zero bits at the end. For 0, it returns 128.
func (n uint128) trailingZeros() int {
	if n.lo != 0 {
		return bits.TrailingZeros64(n.lo)
	}
	return 64 + bits.TrailingZeros64(n.hi)
}
