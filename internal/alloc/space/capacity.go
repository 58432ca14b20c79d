package space

import (
	"math/big"
	"net/netip"
)

// Histogram counts the free blocks of a container by their length. On a maximal free list it answers every question about
// what can be had, in work bounded by the number of lengths, however many blocks there are. Lengths that are missing count
// as zero.
type Histogram map[int]int64

// HistogramOf counts blocks.
func HistogramOf(blocks []netip.Prefix) Histogram {
	h := make(Histogram)
	for _, p := range blocks {
		h[p.Bits()]++
	}
	return h
}

// Blocks is how many blocks of length bits could be had one after another: the sum of count·2^(bits-length) over the
// lengths up to bits. Smaller free blocks cannot be joined to a larger one, because a maximal free list has no buddies.
func (h Histogram) Blocks(bits int) *big.Int {
	sum, part := new(big.Int), new(big.Int)
	for length, count := range h {
		if length <= bits {
			sum.Add(sum, part.Lsh(part.SetInt64(count), uint(bits-length)))
		}
	}
	return sum
}

// Total is the number of addresses in all the blocks together, which must be disjoint; 0 for none.
func Total(blocks ...netip.Prefix) *big.Int {
	sum := new(big.Int)
	for _, p := range blocks {
		sum.Add(sum, Size(p))
	}
	return sum
}
