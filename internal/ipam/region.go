package ipam

import (
	"cmp"
	"net/netip"
	"slices"
	"time"
)

// Region is a location for servers and for rows in the database.
type Region struct {
	Name      string    `json:"name"`
	Ordinal   int       `json:"ordinal"` // position in the order in which regions were added; 0 is the primary region
	CreatedAt time.Time `json:"createdAt"`
}

// PoolRegion is a pool's state in one of the regions that it serves.
type PoolRegion struct {
	Region string `json:"region"`
	// Epoch is a version that changes when blocks are lent or recalled. The region's own rows contain it too. If the two copies differ, the rows and the
	// loan records come from different times, for example after a restore. Then servers must not use the pool in this region.
	Epoch ID `json:"epoch"`
	// Loan is the size of the last loan as a power of two: the loan had 2^Loan addresses. Loan is -1 before the first loan. LoanedAt is the last loan's
	// time. Lasted is how long the previous loan lasted, or 0 if there was none.
	Loan     int           `json:"loan"`
	LoanedAt time.Time     `json:"loanedAt"`
	Lasted   time.Duration `json:"lasted,omitempty"`

	Stock Stock `json:"stock"` // free blocks and blocks in cool-down in this region
	Lent  Stock `json:"lent"`  // Free counts the blocks lent to the region, by length; empty for the home region
}

// Loan is a block that a pool's home region has lent to another region.
type Loan struct {
	PoolID ID
	Region string
	Block  netip.Prefix
	LentAt time.Time
}

// MultiRegion reports whether a pool serves other regions than its home.
func (p Pool) MultiRegion() bool { return len(p.Spec.Regions) > 0 }

// Serves reports whether a pool has its own rows in a region.
func (p Pool) Serves(region string) bool {
	return region == p.Region || slices.Contains(p.Spec.Regions, region)
}

// InRegion returns the pool for use in a region, and stores that region in UsedIn. If the pool does not serve the region, InRegion selects the home
// region.
func (p Pool) InRegion(region string) Pool {
	p.UsedIn = ""
	if region != p.Region && p.Serves(region) {
		p.UsedIn = region
	}
	return p
}

// Place returns the region in which the pool is used. This is UsedIn, or the home region if UsedIn is "".
func (p Pool) Place() string { return cmp.Or(p.UsedIn, p.Region) }
