package codec

import (
	"math/big"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// poolRegionsOf returns a pool's state in its home region and in each other region that serves it. Another region has the blocks that the home has
// lent to it, and the home has the rest. So the sums over the regions equal the pool's figures.
func poolRegionsOf(p ipam.Pool, now time.Time) []gen.PoolInRegion {
	width := p.Block.Addr().BitLen()
	homes := size(p.Block)
	for _, r := range p.Regional {
		homes.Sub(homes, r.Lent.Available(width))
	}
	return Each(p.Regional, func(r ipam.PoolRegion) gen.PoolInRegion {
		if r.Region == p.Region {
			return gen.PoolInRegion{Region: r.Region, Home: true, Capacity: regionCapacity(homes, r.Stock, width)}
		}
		out := gen.PoolInRegion{Region: r.Region, Capacity: regionCapacity(r.Lent.Available(width), r.Stock, width)}
		for _, n := range r.Lent.Free {
			out.Loans += n
		}
		if r.Loan >= 0 {
			bits, at := width-r.Loan, r.LoanedAt
			out.LastLoanPrefixLength, out.LastLoanAt = &bits, &at
		}
		if left, known := regions.Runway(width, r, now); known {
			left = min(left.Truncate(time.Second), ipam.MaxDuration)
			out.Runway = durationOf(&left)
		}
		return out
	})
}

func regionCapacity(total *big.Int, stock ipam.Stock, width int) gen.RegionCapacity {
	return gen.RegionCapacity{
		Total: total.String(), Available: stock.Available(width).String(),
		CoolingDown: ipam.Stock{Free: stock.Cooling}.Available(width).String(),
	}
}

// withoutRunways removes the runways (the time until a region has no free addresses) from a pool. They change all the time, so applyPatch cannot
// compare them.
func withoutRunways(p *gen.IPPool) {
	for i := range p.Status.Regions {
		p.Status.Regions[i].Runway = ""
	}
}
