package lookup

import (
	"context"
	"net/netip"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Regions implements storage.RegionReader.
func (r Reader) Regions(ctx context.Context) ([]ipam.Region, error) {
	return List(ctx, r, "region_list", ScanRegion)
}

// PoolRegions implements storage.RegionReader.
func (r Reader) PoolRegions(ctx context.Context, pools []ipam.ID) (map[ipam.ID][]ipam.PoolRegion, error) {
	found, err := List(ctx, r, "pool_region_list", rows.PoolRegions.Scan, pools)
	out := make(map[ipam.ID][]ipam.PoolRegion, len(pools))
	for _, p := range found {
		out[p.Pool] = append(out[p.Pool], p.PoolRegion)
	}
	return out, err
}

// PoolsServing implements storage.RegionReader.
func (r Reader) PoolsServing(ctx context.Context, region string, from ipam.ID, limit int) ([]ipam.Pool, error) {
	return List(ctx, r, "pool_list_serving", rows.Pools.Scan, region, from, limit)
}

// LoansOver implements storage.RegionReader.
func (r Reader) LoansOver(ctx context.Context, poolID ipam.ID, b netip.Prefix, limit int) ([]ipam.Loan, error) {
	before, err := List(ctx, r, "loan_before", rows.Loans.Scan, poolID, rows.Base(b))
	if err != nil {
		return nil, err
	}
	if len(before) == 1 && before[0].Block.Overlaps(b) {
		return before, nil // this loan covers the whole block, because blocks are aligned
	}
	return List(ctx, r, "loan_list", rows.Loans.Scan, poolID, rows.Base(b), rows.Last(b), limit)
}

// LoansTo implements storage.RegionReader.
func (r Reader) LoansTo(ctx context.Context, poolID ipam.ID, region string, from netip.Addr, limit int) ([]ipam.Loan, error) {
	return List(ctx, r, "loan_list_to", rows.Loans.Scan, poolID, rows.After(from), region, limit)
}

// LoanSizes implements storage.RegionReader.
func (r Reader) LoanSizes(ctx context.Context, pools []ipam.ID) ([]storage.LoanSize, error) {
	return List(ctx, r, "loan_sizes", func(row pgx.CollectableRow) (l storage.LoanSize, err error) {
		err = row.Scan(&l.PoolID, &l.Region, &l.Bits, &l.Count)
		return l, err
	}, pools)
}

// StockEpoch implements storage.RegionReader.
func (r Reader) StockEpoch(ctx context.Context, poolID ipam.ID, region string) (record, there ipam.ID, err error) {
	e, err := firstOrZero(ctx, r, "stock_epoch", scanEpochs, poolID, region)
	return e.record, e.there, err
}

// epochs are a pool's two epochs in a region. An epoch is a version: one is in the loan record, the other is with the region's rows. They differ if
// the two were restored to different times.
type epochs struct{ record, there ipam.ID }

func scanEpochs(row pgx.CollectableRow) (e epochs, err error) {
	err = row.Scan(&e.record, &e.there)
	return e, err
}

// ScanRegion reads a region.
func ScanRegion(row pgx.CollectableRow) (r ipam.Region, err error) {
	err = row.Scan(&r.Name, &r.Ordinal, &r.CreatedAt)
	return r, err
}
