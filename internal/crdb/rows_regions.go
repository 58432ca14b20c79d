package crdb

import (
	"context"
	"net/netip"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Regions implements storage.RegionReader.
func (r reader) Regions(ctx context.Context) ([]ipam.Region, error) {
	return list(ctx, r, "region_list", scanRegion)
}

// PoolRegions implements storage.RegionReader.
func (r reader) PoolRegions(ctx context.Context, pools []ipam.ID) (map[ipam.ID][]ipam.PoolRegion, error) {
	found, err := list(ctx, r, "pool_region_list", rows.PoolRegions.Scan, rows.IDs(pools))
	out := make(map[ipam.ID][]ipam.PoolRegion, len(pools))
	for _, p := range found {
		out[p.Pool] = append(out[p.Pool], p.PoolRegion)
	}
	return out, err
}

// PoolsServing implements storage.RegionReader.
func (r reader) PoolsServing(ctx context.Context, region string, from ipam.ID, limit int) ([]ipam.Pool, error) {
	return list(ctx, r, "pool_list_serving", rows.Pools.Scan, region, rows.ID(from), limit)
}

// LoansOver implements storage.RegionReader.
func (r reader) LoansOver(ctx context.Context, poolID ipam.ID, b netip.Prefix, limit int) ([]ipam.Loan, error) {
	before, err := list(ctx, r, "loan_before", rows.Loans.Scan, rows.ID(poolID), rows.Base(b))
	if err != nil {
		return nil, err
	}
	if len(before) == 1 && before[0].Block.Overlaps(b) {
		return before, nil // it covers the block, or else would not reach it
	}
	return list(ctx, r, "loan_list", rows.Loans.Scan, rows.ID(poolID), rows.Base(b), rows.Last(b), limit)
}

// LoansTo implements storage.RegionReader.
func (r reader) LoansTo(ctx context.Context, poolID ipam.ID, region string, from netip.Addr, limit int) ([]ipam.Loan, error) {
	return list(ctx, r, "loan_list_to", rows.Loans.Scan, rows.ID(poolID), rows.After(from), region, limit)
}

// LoanSizes implements storage.RegionReader.
func (r reader) LoanSizes(ctx context.Context, pools []ipam.ID) ([]storage.LoanSize, error) {
	return list(ctx, r, "loan_sizes", func(row pgx.CollectableRow) (l storage.LoanSize, err error) {
		err = row.Scan((*[16]byte)(&l.PoolID), &l.Region, &l.Bits, &l.Count)
		return l, err
	}, rows.IDs(pools))
}

// StockEpoch implements storage.RegionReader.
func (r reader) StockEpoch(ctx context.Context, poolID ipam.ID, region string) (record, there ipam.ID, err error) {
	found, err := list(ctx, r, "stock_epoch", scanEpochs, rows.ID(poolID), region)
	if err != nil || len(found) == 0 {
		return record, there, err
	}
	return found[0].record, found[0].there, nil
}

// epochs are those of a pool in a region.
type epochs struct{ record, there ipam.ID }

func scanEpochs(row pgx.CollectableRow) (e epochs, err error) {
	var there *[16]byte
	if err = row.Scan((*[16]byte)(&e.record), &there); err == nil && there != nil {
		e.there = *there
	}
	return e, err
}

// roomThere is a container with room, and its region.
type roomThere struct {
	container ipam.ID
	region    string
}

func (r reader) roomInAll(ctx context.Context, ask []storage.RoomQuery) ([]roomThere, error) {
	regions, ids, sizes := make([]string, len(ask)), make([][16]byte, len(ask)), make([]int16, len(ask))
	for i, q := range ask {
		regions[i], ids[i], sizes[i] = q.Container.Region, rows.ID(q.Container.ID), int16(q.Container.Block.Addr().BitLen()-q.Bits) //nolint:gosec // 0 to 128
	}
	return list(ctx, r, "container_room_in", func(row pgx.CollectableRow) (f roomThere, err error) {
		err = row.Scan((*[16]byte)(&f.container), &f.region)
		return f, err
	}, regions, ids, sizes)
}

// RoomByRegion implements storage.RegionReader.
func (r reader) RoomByRegion(ctx context.Context, ask []storage.RoomQuery) (map[string]bool, error) {
	found, err := r.roomInAll(ctx, ask)
	room := make(map[string]bool, len(found))
	for _, f := range found {
		room[f.region] = true
	}
	return room, err
}
