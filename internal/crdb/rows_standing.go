package crdb

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
		record, there *[16]byte
		loan          *int16
		loanedAt      *time.Time
		lasted        *int64
	)
	if err := row.Scan((*[16]byte)(&p.ID), &p.Pool.Project, &p.Pool.Name, &p.Home, &at, &length, &record, &loan, &loanedAt, &lasted, &there); err != nil {
		return p, err
	}
	if record != nil {
		p.Served = &ipam.PoolRegion{Epoch: *record, Loan: int(*loan), LoanedAt: loanedAt.UTC(), Lasted: time.Duration(*lasted) * time.Millisecond}
		p.Fenced = there == nil || *there != *record
	}
	p.Block, err = rows.Block(at, int(length))
	return p, err
}

// PoolStandings implements pools.SampleStore.
func (r reader) PoolStandings(ctx context.Context, region string, from ipam.ID, limit int) ([]pools.PoolStanding, error) {
	return list(ctx, r, "pool_standing", scanStanding, region, rows.ID(from), limit)
}

// FreeWalk implements pools.SampleStore.
func (r reader) FreeWalk(ctx context.Context, region string, from pools.FreePlace, last ipam.ID, limit int) ([]pools.FreePlace, error) {
	at := from.Base
	if at == nil {
		at = []byte{}
	}
	return list(ctx, r, "free_walk", func(row pgx.CollectableRow) (f pools.FreePlace, err error) {
		err = row.Scan((*[16]byte)(&f.Container), &f.HostBits, &f.Base)
		return f, err
	}, region, rows.ID(from.Container), from.HostBits, at, rows.ID(last), limit)
}
