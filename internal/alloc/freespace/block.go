package freespace

import (
	"cmp"
	"fmt"
	"math/big"
	"net/netip"
)

// Canonical reports whether p is a block. A block is valid and has only zeros in its host bits.
func Canonical(p netip.Prefix) bool { return p.IsValid() && p == p.Masked() }

// Width returns the prefix length of a host block in p's family: 32 or 128. If p is not valid, it returns 0.
func Width(p netip.Prefix) int { return p.Addr().BitLen() }

// Buddy returns the other half of the block that is twice as large as p. It panics if p is a /0 or not valid.
func Buddy(p netip.Prefix) netip.Prefix {
	if p.Bits() <= 0 {
		panic(fmt.Sprintf("space: %v has no buddy", p))
	}
	width := Width(p)
	return block(numberOf(p.Addr()).xor(oneAt(width-p.Bits())), p.Bits(), width)
}

// Parent returns the block of twice the size that contains p. It panics if p is a /0 or not valid.
func Parent(p netip.Prefix) netip.Prefix {
	if p.Bits() <= 0 {
		panic(fmt.Sprintf("space: %v has no parent", p))
	}
	return Ancestor(p, p.Bits()-1)
}

// Ancestor returns the block with the given length that contains p. If bits is p.Bits(), this is p. It panics if bits is not in 0..p.Bits().
func Ancestor(p netip.Prefix, bits int) netip.Prefix {
	if bits < 0 || bits > p.Bits() {
		panic(fmt.Sprintf("space: %v has no ancestor of length %d", p, bits))
	}
	return netip.PrefixFrom(p.Addr(), bits).Masked()
}

// Halves returns the two halves of p, the lower one first. It panics if p is a host block.
func Halves(p netip.Prefix) (low, high netip.Prefix) {
	if !p.IsValid() || p.Bits() >= Width(p) {
		panic(fmt.Sprintf("space: %v has no halves", p))
	}
	low = netip.PrefixFrom(p.Addr(), p.Bits()+1)
	return low, Buddy(low)
}

// Contains reports whether outer contains every address in inner. A block contains itself. For blocks in different families and for invalid blocks,
// Contains returns false.
func Contains(outer, inner netip.Prefix) bool {
	return outer.Bits() <= inner.Bits() && outer.Contains(inner.Addr())
}

// Overlaps reports whether a and b share an address. If two blocks overlap, one contains the other.
func Overlaps(a, b netip.Prefix) bool { return Contains(a, b) || Contains(b, a) }

// Size counts the addresses in p. The result is 2^(width-bits), and 2^128 at most.
func Size(p netip.Prefix) *big.Int {
	return new(big.Int).Lsh(big.NewInt(1), uint(Width(p)-p.Bits()))
}

// First returns p's lowest address.
func First(p netip.Prefix) netip.Addr { return p.Masked().Addr() }

// Last returns p's highest address.
func Last(p netip.Prefix) netip.Addr { return lastOf(p).addr(Width(p)) }

// Compare orders blocks by family (IPv4 first), then by address, then by length (the larger block first). In this order, a block comes directly
// before the blocks inside it. If two blocks are disjoint, the lower one comes first.
func Compare(a, b netip.Prefix) int {
	return cmp.Or(a.Addr().Compare(b.Addr()), cmp.Compare(a.Bits(), b.Bits()))
}

// NthAddress returns p's lowest address plus n. If p does not contain this address, it returns false.
func NthAddress(p netip.Prefix, n uint64) (netip.Addr, bool) {
	host, ok := NthBlock(p, Width(p), n)
	return host.Addr(), ok
}

// NthBlock returns the block at index n (from 0) among p's blocks with prefix length bits. If p has no such block, it returns false.
func NthBlock(p netip.Prefix, bits int, n uint64) (netip.Prefix, bool) {
	width := Width(p)
	if !p.IsValid() || bits < p.Bits() || bits > width {
		return netip.Prefix{}, false
	}
	index := uint128{lo: n}
	if index.bitLen() > bits-p.Bits() {
		return netip.Prefix{}, false
	}
	return block(numberOf(First(p)).or(index.shiftLeft(width-bits)), bits, width), true
}

// Sub returns a block inside p with prefix length bits. random selects the block's position. If random is uniform, all positions are equally likely.
//
// Bit i of the block's address (0 is the highest) is bit i of random, for i in p.Bits()..bits-1. So the same random bits select the same address
// bits, whatever p's size is. Sub panics if bits is not in p.Bits()..Width(p).
func Sub(p netip.Prefix, bits int, random [16]byte) netip.Prefix {
	width := Width(p)
	if !p.IsValid() || bits < p.Bits() || bits > width {
		panic(fmt.Sprintf("space: %v has no block of length %d", p, bits))
	}
	place := numberOf(netip.AddrFrom16(random))
	if width == 32 {
		place = uint128{lo: place.hi >> 32}
	}
	free := lowOnes(width - p.Bits()).andNot(lowOnes(width - bits))
	return block(numberOf(First(p)).or(place.and(free)), bits, width)
}

func block(base uint128, bits, width int) netip.Prefix {
	return netip.PrefixFrom(base.addr(width), bits)
}

func lastOf(p netip.Prefix) uint128 { return numberOf(p.Addr()).or(lowOnes(Width(p) - p.Bits())) }
