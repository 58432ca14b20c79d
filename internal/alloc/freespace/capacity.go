package freespace

import (
	"math/big"
	"net/netip"
)

// Histogram counts a container's free blocks by length. For a maximal free list it determines which blocks the container can grant, in work bounded
// by the lengths rather than the blocks. A missing length counts as zero.
type Histogram map[int]int64

// HistogramOf returns the histogram of blocks.
func HistogramOf(blocks []netip.Prefix) Histogram {
	h := make(Histogram)
	for _, p := range blocks {
		h[p.Bits()]++
	}
	return h
}

// Blocks returns how many blocks with length bits the container can grant: the sum of count·2^(bits-length) over the lengths up to bits. Smaller free
// blocks never form a larger one, because a maximal free list has no buddies.
func (h Histogram) Blocks(bits int) *big.Int {
	sum, part := new(big.Int), new(big.Int)
	for length, count := range h {
		if length <= bits {
			sum.Add(sum, part.Lsh(part.SetInt64(count), uint(bits-length)))
		}
	}
	return sum
}

// Total counts the addresses in all blocks together; 0 for none. The blocks must be disjoint.
func Total(blocks ...netip.Prefix) *big.Int {
	sum := new(big.Int)
	for _, p := range blocks {
		sum.Add(sum, Size(p))
	}
	return sum
}
