package regions

import (
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// firstLoan is how many of the blocks that are asked for a region's first loan has room for, as a power of two: 64.
const firstLoan = 6

// homesShare is the part of the home's largest free block that a loan takes at most, as a power of two: a quarter. So no region takes what all have to live on
// because it asked first.
const homesShare = 2

// loanLength is the prefix length of the next loan of a pool to a region, which needs a block of length need. A loan that lasted less than half of the runway
// is followed by one of twice its size, one that lasted longer than twice the runway by one of half. largest is the length of the largest block that is free at
// home, which can hold need.
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

// lowWater is the prefix length of the block that a region is to have free: half of its last loan. Without one it is short of stock.
func lowWater(pool netip.Prefix, rec ipam.PoolRegion, need int) int {
	if rec.Loan < 1 {
		return need
	}
	return min(need, pool.Addr().BitLen()-rec.Loan+1)
}

// usual is the prefix length that claims from a pool are expected to have, when nobody has said yet.
func usual(p ipam.Pool) int {
	lo, hi := p.Spec.Allocation.Bounds(p.Block)
	if d := p.Spec.Allocation.DefaultPrefixLength; d != nil {
		return max(lo, min(hi, *d))
	}
	return hi
}

// Runway is how long what is free in a region will last if it is used as fast as the last loans were; false: nothing is known yet.
func Runway(width int, r ipam.PoolRegion, now time.Time) (time.Duration, bool) {
	if r.Loan < 0 || r.Lasted <= 0 {
		return 0, false
	}
	free, _ := r.Stock.Available(width).Float64()
	loan := pow2(r.Loan)
	// The loan before the last lasted that long; the last one lasts as long as it has, at least.
	each := max(r.Lasted, now.Sub(r.LoanedAt))
	return time.Duration(min(free/loan*float64(each), float64(MaxRunway))), true
}

// MaxRunway bounds what is said of the future.
const MaxRunway = 10 * 365 * 24 * time.Hour

func pow2(n int) float64 {
	v := 1.0
	for range n {
		v *= 2
	}
	return v
}
