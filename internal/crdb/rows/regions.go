package rows

import (
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// PoolRegion records a pool's share in a region, with the pool's id.
type PoolRegion struct {
	Pool ipam.ID
	ipam.PoolRegion
}

type poolRegionRow struct {
	PoolRegion
	lasted int64
}

// PoolRegions maps each PoolRegion to a row.
var PoolRegions = kindOf(table[poolRegionRow]{
	id("pool_id", func(r *poolRegionRow) *ipam.ID { return &r.Pool }),
	plain("region", func(r *poolRegionRow) *string { return &r.Region }),
	id("epoch", func(r *poolRegionRow) *ipam.ID { return &r.Epoch }),
	plain("loan_bits", func(r *poolRegionRow) *int { return &r.Loan }),
	moment("loaned_at", func(r *poolRegionRow) *time.Time { return &r.LoanedAt }),
	plain("lasted_ms", func(r *poolRegionRow) *int64 { return &r.lasted }),
}, func(p PoolRegion, _ *documents) poolRegionRow { return poolRegionRow{p, p.Lasted.Milliseconds()} }, func(r *poolRegionRow) (PoolRegion, error) {
	r.Lasted = time.Duration(r.lasted) * time.Millisecond
	return r.PoolRegion, nil
})

type loanRow struct {
	ipam.Loan
	held
}

// Loans reads loans. A loan is a pool's block that is lent to a region.
var Loans = kindOf(append(
	heldColumns(func(r *loanRow) *held { return &r.held }),
	id("pool_id", func(r *loanRow) *ipam.ID { return &r.PoolID }),
	plain("region", func(r *loanRow) *string { return &r.Region }),
	moment("lent_at", func(r *loanRow) *time.Time { return &r.LentAt }),
), nil, func(r *loanRow) (l ipam.Loan, err error) {
	r.Block, err = r.block()
	return r.Loan, err
})
