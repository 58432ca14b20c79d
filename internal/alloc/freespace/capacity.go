package freespace

import (
	"math/big"
	"net/netip"
)

// Histogram counts a container's free blocks by prefix length. A missing length counts as zero. If no two free blocks can merge, the histogram is
// enough to compute which blocks the container can grant. The work depends on the number of lengths, not on the number of blocks.
type Histogram map[int]int64

// HistogramOf returns the histogram of blocks.
func HistogramOf(blocks []netip.Prefix) Histogram {
	h := make(Histogram)
	for _, p := range blocks {
		h[p.Bits()]++
	}
	return h
}

// Blocks returns the number of blocks with length bits that the container can grant. This is the sum of count·2^(bits-length) over all lengths up to
// bits. Smaller free blocks do not count. They cannot form a larger block, because no two free blocks are buddies.
func (h Histogram) Blocks(bits int) *big.Int {
	sum, part := new(big.Int), new(big.Int)
	for length, count := range h {
		if length <= bits {
			sum.Add(sum, part.Lsh(part.SetInt64(count), uint(bits-length)))
		}
	}
	return sum
}

// Total counts the addresses in all blocks together. The blocks must be disjoint.
func Total(blocks ...netip.Prefix) *big.Int {
	sum := new(big.Int)
	for _, p := range blocks {
		sum.Add(sum, Size(p))
	}
	return sum
}
