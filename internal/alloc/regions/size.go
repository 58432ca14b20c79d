package regions

import (
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// firstLoan is the size of a region's first loan in blocks with the needed length, as a power of two: 64 blocks.
const firstLoan = 6

// homesShare limits a loan to a part of the home region's largest free block, as a power of two: a quarter. Otherwise the first region that borrows
// would take the space that all regions need.
const homesShare = 2

// loanLength returns the prefix length of a pool's next loan to a region that needs a block with length need. If the last loan lasted less than half
// the runway, the next loan is twice as large. If it lasted more than twice the runway, the next loan is half as large. largest is the length of the
// home region's largest free block, which is large enough for need.
func loanLength(pool netip.Prefix, rec ipam.PoolRegion, need, largest int, runway time.Duration, now time.Time) int {
	width := pool.Addr().BitLen()
	bits := width - need + firstLoan
	if rec.Loan >= 0 {
		bits = rec.Loan
		switch lasted := now.Sub(rec.LoanedAt); {
		case lasted < runway/2:
			bits++
		case lasted > 2*runway:
			bits--
		}
	}
	bits = min(bits, width-largest-homesShare)
	bits = max(bits, width-need, 0)
	return width - bits
}

// lowWater returns the prefix length of the free block that a region should have. This block is half as large as the last loan. A region without such
// a block needs another loan.
func lowWater(pool netip.Prefix, rec ipam.PoolRegion, need int) int {
	if rec.Loan < 1 {
		return need
	}
	return min(need, pool.Addr().BitLen()-rec.Loan+1)
}

// typicalLength returns the expected prefix length for claims from a pool.
func typicalLength(p ipam.Pool) int {
	lo, hi := p.Spec.Allocation.Bounds(p.Block)
	if d := p.Spec.Allocation.DefaultPrefixLength; d != nil {
		return max(lo, min(hi, *d))
	}
	return hi
}

// Runway returns how long the free space in a region will last at the rate of the last loans. If the rate is not known yet, it returns false.
func Runway(width int, r ipam.PoolRegion, now time.Time) (time.Duration, bool) {
	if r.Loan < 0 || r.Lasted <= 0 {
		return 0, false
	}
	free, _ := r.Stock.Available(width).Float64()
	loan := pow2(r.Loan)
	// The loan before the last one lasted for r.Lasted. The last loan has lasted at least since r.LoanedAt.
	each := max(r.Lasted, now.Sub(r.LoanedAt))
	return time.Duration(min(free/loan*float64(each), float64(MaxRunway))), true
}

// MaxRunway is the upper limit for a prediction.
const MaxRunway = 10 * 365 * 24 * time.Hour

func pow2(n int) float64 {
	v := 1.0
	for range n {
		v *= 2
	}
	return v
}
