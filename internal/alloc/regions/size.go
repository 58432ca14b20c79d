package regions

import (
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// firstLoan is how many blocks with the needed length a region's first loan holds, as a power of two: 64.
const firstLoan = 6

// homesShare limits a loan to a part of the home's largest free block, as a power of two: a quarter. So the first region to ask does not take the
// space that all regions need.
const homesShare = 2

// loanLength returns the prefix length for a pool's next loan to a region that needs a block with length need. It doubles the size after a loan that
// lasted less than half the runway, and halves it after one that lasted more than twice the runway. largest is the length of the home's largest free
// block, which can hold need.
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

// lowWater returns the prefix length of the block that a region should have free: half its last loan. A region without such a block has low stock.
func lowWater(pool netip.Prefix, rec ipam.PoolRegion, need int) int {
	if rec.Loan < 1 {
		return need
	}
	return min(need, pool.Addr().BitLen()-rec.Loan+1)
}

// typicalLength returns the prefix length that claims from a pool are expected to have before there are any.
func typicalLength(p ipam.Pool) int {
	lo, hi := p.Spec.Allocation.Bounds(p.Block)
	if d := p.Spec.Allocation.DefaultPrefixLength; d != nil {
		return max(lo, min(hi, *d))
	}
	return hi
}

// Runway returns how long the free space in a region lasts at the last loans' rate; false if nothing is known yet.
func Runway(width int, r ipam.PoolRegion, now time.Time) (time.Duration, bool) {
	if r.Loan < 0 || r.Lasted <= 0 {
		return 0, false
	}
	free, _ := r.Stock.Available(width).Float64()
	loan := pow2(r.Loan)
	// The loan before the last lasted for r.Lasted; the last one has lasted since r.LoanedAt, at least.
	each := max(r.Lasted, now.Sub(r.LoanedAt))
	return time.Duration(min(free/loan*float64(each), float64(MaxRunway))), true
}

// MaxRunway is the upper bound for predictions.
const MaxRunway = 10 * 365 * 24 * time.Hour

func pow2(n int) float64 {
	v := 1.0
	for range n {
		v *= 2
	}
	return v
}
