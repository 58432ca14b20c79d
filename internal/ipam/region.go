package ipam

import (
	"net/netip"
	"slices"
	"time"
)

// Region is a location with servers and rows.
type Region struct {
	Name      string    `json:"name"`
	Ordinal   int       `json:"ordinal"` // the order in which regions were added; 0 is the primary one
	CreatedAt time.Time `json:"createdAt"`
}

// PoolRegion is a pool's state in one of the regions that it serves.
type PoolRegion struct {
	Region string `json:"region"`
	// Epoch is a version: every loan and recall changes it. If the region's own rows have a different one, they and the loan record come from
	// different times, and the pool must not be used there.
	Epoch ID `json:"epoch"`
	// Loan is the size of the last loan: 2^Loan addresses; -1: no loan yet. LoanedAt is its time, and Lasted is how long the loan before it lasted;
	// 0: none.
	Loan     int           `json:"loan"`
	LoanedAt time.Time     `json:"loanedAt"`
	Lasted   time.Duration `json:"lasted,omitempty"`

	Stock Stock `json:"stock"` // free and cooling blocks there
	Lent  Stock `json:"lent"`  // Free: the blocks lent to the region, by size; empty at home
}

// Loan is a block of a pool that its home has lent to another region.
type Loan struct {
	PoolID ID
	Region string
	Block  netip.Prefix
	LentAt time.Time
}

// Several reports whether a pool serves regions other than its home.
func (p Pool) Several() bool { return len(p.Spec.Regions) > 0 }

// Serves reports whether a pool has its own rows in a region.
func (p Pool) Serves(region string) bool {
	return region == p.Region || slices.Contains(p.Spec.Regions, region)
}

// In returns the pool as used in a region, if it serves that; otherwise as used at home.
func (p Pool) In(region string) Pool {
	p.At = ""
	if region != p.Region && p.Serves(region) {
		p.At = region
	}
	return p
}

// Place returns the region where the pool is used: At, or the home.
func (p Pool) Place() string {
	if p.At != "" {
		return p.At
	}
	return p.Region
}
