package ipam

import (
	"net/netip"
	"slices"
	"time"
)

// Region is a place where servers and rows are.
type Region struct {
	Name      string    `json:"name"`
	Ordinal   int       `json:"ordinal"` // the order in which regions were added; 0 is the primary one
	CreatedAt time.Time `json:"createdAt"`
}

// PoolRegion is a pool in one of the regions that it serves.
type PoolRegion struct {
	Region string `json:"region"`
	// Epoch is another one after every loan and recall. Where the region's own rows bear another one, they are of another time than
	// the record of what was lent, and are not to be drawn from.
	Epoch ID `json:"epoch"`
	// Loan is the size of the last loan: 2^Loan addresses; -1: nothing was lent yet. LoanedAt is when it was made, and Lasted how long
	// the one before it had lasted; 0: there was none.
	Loan     int           `json:"loan"`
	LoanedAt time.Time     `json:"loanedAt"`
	Lasted   time.Duration `json:"lasted,omitempty"`

	Stock Stock `json:"stock"` // what is free and cooling down there
	Lent  Stock `json:"lent"`  // Free: the blocks that the region was lent, by size; nothing at home
}

// Loan is a block of a pool that its home has lent to another region.
type Loan struct {
	PoolID ID
	Region string
	Block  netip.Prefix
	LentAt time.Time
}

// Several reports whether a pool is served in more regions than its home.
func (p Pool) Several() bool { return len(p.Spec.Regions) > 0 }

// Serves reports whether a pool has rows of its own in a region.
func (p Pool) Serves(region string) bool {
	return region == p.Region || slices.Contains(p.Spec.Regions, region)
}

// In is the pool as it is drawn from in a region, if it is served there; otherwise as it is at home.
func (p Pool) In(region string) Pool {
	p.At = ""
	if region != p.Region && p.Serves(region) {
		p.At = region
	}
	return p
}

// Place is the region whose rows a pool is drawn from: At, or the home.
func (p Pool) Place() string {
	if p.At != "" {
		return p.At
	}
	return p.Region
}
