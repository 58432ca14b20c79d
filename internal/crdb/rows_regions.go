package crdb

import (
	"context"
	"net/netip"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Regions implements storage.RegionReader.
func (r reader) Regions(ctx context.Context) ([]ipam.Region, error) {
	return list(ctx, r, "region_list", scanRegion)
}

// poolRegion is a pool in a region, and which pool.
type poolRegion struct {
	pool ipam.ID
	ipam.PoolRegion
}

func scanPoolRegion(row pgx.Row) (p poolRegion, err error) {
	var lasted int64
	err = row.Scan((*[16]byte)(&p.pool), &p.Region, (*[16]byte)(&p.Epoch), &p.Loan, &p.LoanedAt, &lasted)
	p.LoanedAt, p.Lasted = p.LoanedAt.UTC(), time.Duration(lasted)*time.Millisecond
	return p, err
}

// PoolRegions implements storage.RegionReader.
func (r reader) PoolRegions(ctx context.Context, pools []ipam.ID) (map[ipam.ID][]ipam.PoolRegion, error) {
	rows, err := list(ctx, r, "pool_region_list", scanPoolRegion, uuids(pools))
	out := make(map[ipam.ID][]ipam.PoolRegion, len(pools))
	for _, p := range rows {
		out[p.pool] = append(out[p.pool], p.PoolRegion)
	}
	return out, err
}

// PoolsServing implements storage.RegionReader.
func (r reader) PoolsServing(ctx context.Context, region string, from ipam.ID, limit int) ([]ipam.Pool, error) {
	return list(ctx, r, "pool_list_serving", scanPool, region, uuid(from), limit)
}

func scanLoan(row pgx.Row) (l ipam.Loan, err error) {
	var at []byte
	var length int16
	if err := row.Scan((*[16]byte)(&l.PoolID), &at, &length, &l.Region, &l.LentAt); err != nil {
		return l, err
	}
	l.LentAt = l.LentAt.UTC()
	l.Block, err = block(at, int(length))
	return l, err
}

// LoansOver implements storage.RegionReader.
func (r reader) LoansOver(ctx context.Context, poolID ipam.ID, b netip.Prefix, limit int) ([]ipam.Loan, error) {
	before, err := list(ctx, r, "loan_before", scanLoan, uuid(poolID), base(b))
	if err != nil {
		return nil, err
	}
	if len(before) == 1 && before[0].Block.Overlaps(b) {
		return before, nil // it covers the block, or else would not reach it
	}
	return list(ctx, r, "loan_list", scanLoan, uuid(poolID), base(b), last(b), limit)
}

// LoansTo implements storage.RegionReader.
func (r reader) LoansTo(ctx context.Context, poolID ipam.ID, region string, from netip.Addr, limit int) ([]ipam.Loan, error) {
	return list(ctx, r, "loan_list_to", scanLoan, uuid(poolID), after(from), region, limit)
}

// LoanSizes implements storage.RegionReader.
func (r reader) LoanSizes(ctx context.Context, pools []ipam.ID) ([]storage.LoanSize, error) {
	return list(ctx, r, "loan_sizes", func(row pgx.Row) (l storage.LoanSize, err error) {
		err = row.Scan((*[16]byte)(&l.PoolID), &l.Region, &l.Bits, &l.Count)
		return l, err
	}, uuids(pools))
}

// StockEpoch implements storage.RegionReader.
func (r reader) StockEpoch(ctx context.Context, poolID ipam.ID, region string) (record, rows ipam.ID, err error) {
	found, err := list(ctx, r, "stock_epoch", scanEpochs, uuid(poolID), region)
	if err != nil || len(found) == 0 {
		return record, rows, err
	}
	return found[0].record, found[0].rows, nil
}

// epochs are those of a pool in a region.
type epochs struct{ record, rows ipam.ID }

func scanEpochs(row pgx.Row) (e epochs, err error) {
	var rows *[16]byte
	if err = row.Scan((*[16]byte)(&e.record), &rows); err == nil && rows != nil {
		e.rows = *rows
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
		regions[i], ids[i], sizes[i] = q.Container.Region, uuid(q.Container.ID), int16(q.Container.Block.Addr().BitLen()-q.Bits) //nolint:gosec // 0 to 128
	}
	return list(ctx, r, "container_room_in", func(row pgx.Row) (f roomThere, err error) {
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
