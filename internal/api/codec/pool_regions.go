package codec

import (
	"math/big"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// poolRegionsOf is a pool in each of the regions that serve it besides its home, and there. What was lent is the
// region's, and the rest is the home's, so that together they are the pool.
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

// withoutRunways takes from a pool what is another one at each moment, and so cannot be compared with what somebody has read.
func withoutRunways(p *gen.IPPool) {
	for i := range p.Status.Regions {
		p.Status.Regions[i].Runway = ""
	}
}
