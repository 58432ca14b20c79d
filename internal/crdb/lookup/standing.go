package lookup

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/pools"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

func scanStanding(row pgx.CollectableRow) (p pools.PoolStanding, err error) {
	var (
		at            []byte
		length        int16
		record, there ipam.ID
		loan          *int16
		loanedAt      *time.Time
		lasted        *int64
		stock         []byte
	)
	if err := row.Scan(&p.ID, &p.Pool.Project, &p.Pool.Name, &p.Home, &at, &length, &record, &loan, &loanedAt, &lasted, &there, &stock); err != nil {
		return p, err
	}
	if loan != nil {
		p.Served = &ipam.PoolRegion{Epoch: record, Loan: int(*loan), LoanedAt: loanedAt.UTC(), Lasted: time.Duration(*lasted) * time.Millisecond}
		p.Fenced = there != record
	}
	if p.Block, err = rows.Block(at, int(length)); err == nil && stock != nil {
		p.Stock, err = rows.DecodeStock(stock)
	}
	return p, err
}

// PoolStandings implements pools.SampleStore.
func (r Reader) PoolStandings(ctx context.Context, region string, from ipam.ID, limit int) ([]pools.PoolStanding, error) {
	return List(ctx, r, "pool_standing", scanStanding, region, from, limit)
}
