package codec

import (
	"math/big"
	"net/netip"
	"strconv"

	"github.com/carve-ipam/carve/internal/alloc/pools"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// PoolFreeOf converts a page of free blocks into its wire form.
func PoolFreeOf(page pools.FreePage) gen.PoolFree {
	return gen.PoolFree{
		Summary:    freeSummary(page.Pool),
		Items:      Each(page.Blocks, func(b netip.Prefix) gen.FreeBlock { return gen.FreeBlock{CIDR: b.String()} }),
		NextCursor: page.Next,
	}
}

// freeSummary counts a pool's free blocks by length, from the largest free block down to a host address. For each length it returns two numbers: the
// free blocks with exactly that length, and the blocks with that length that can be claimed. A larger free block counts as all the blocks that it can
// be divided into. If the pool's bounds do not allow a length, the second number is 0.
func freeSummary(p ipam.Pool) []gen.FreeSummary {
	largest, some := p.Stock.LargestFree()
	if !some {
		return []gen.FreeSummary{}
	}
	lo, hi := p.Spec.Allocation.Bounds(p.Block)
	width := p.Block.Addr().BitLen()
	out := make([]gen.FreeSummary, 0, width-largest+1)
	fit := new(big.Int)
	for bits := largest; bits <= width; bits++ {
		exactly := p.Stock.Free[bits]
		fit.Lsh(fit, 1).Add(fit, big.NewInt(exactly))
		available := "0"
		if bits >= lo && bits <= hi {
			available = fit.String()
		}
		out = append(out, gen.FreeSummary{PrefixLength: bits, FreeBlocks: strconv.FormatInt(exactly, 10), Available: available})
	}
	return out
}
