package regions

import (
	"context"
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// lend moves a free block from a pool's home region to another region that the pool serves. The block is large enough for a block with length need.
// lend reports whether it moved a block.
//
// If more is false, lend moves a block only if the region still has few free blocks. So if several servers notice the shortage, only one server
// lends.
func (s *mover) lend(ctx context.Context, p ipam.Pool, region string, need int, more bool) (bool, error) {
	return s.move(ctx, "region_lend", p, region, func(ctx context.Context, t *moveTx) (storage.Changes, error) {
		rec := t.records[1]
		if !more {
			stock, err := t.tx.FreeList(ctx, t.away, lowWater(t.pool.Block, rec, need), netip.Prefix{}, 1)
			if err != nil || len(stock) > 0 {
				return storage.Changes{}, err
			}
		}
		largest, err := t.tx.FreeList(ctx, t.home, need, netip.Prefix{}, 1)
		if err != nil || len(largest) == 0 {
			return storage.Changes{}, err
		}
		wish := freespace.BlockRequest{Bits: loanLength(t.pool.Block, rec, need, largest[0].Bits(), s.runway, t.now), Strategy: freespace.BestFit}
		block, free, ok, err := t.moveBlock(ctx, t.home, t.away, wish)
		if err != nil || !ok {
			return storage.Changes{}, err
		}
		loan, joined, err := t.join(ctx, ipam.Loan{PoolID: t.pool.UID, Region: region, Block: block, LentAt: t.now})
		if err != nil {
			return storage.Changes{}, err
		}
		return storage.Changes{Free: free, RegionChanges: storage.RegionChanges{
			LoanDelete: joined, LoanInsert: []ipam.Loan{loan},
			PoolRegionUpdate: t.newRecords(func(r *ipam.PoolRegion) {
				if r.Loan >= 0 {
					r.Lasted = max(t.now.Sub(r.LoanedAt), time.Millisecond)
				}
				r.Loan, r.LoanedAt = t.pool.Block.Addr().BitLen()-block.Bits(), t.now
			}),
		}}, nil
	})
}

// join merges a loan with its buddies' loans to the same region, so that contiguous loans need few rows.
func (t *moveTx) join(ctx context.Context, l ipam.Loan) (whole ipam.Loan, joined []ipam.Loan, err error) {
	for l.Block.Bits() > t.pool.Block.Bits() {
		buddy := freespace.Buddy(l.Block)
		over, err := t.tx.LoansOver(ctx, t.pool.UID, buddy, 1)
		if err != nil || len(over) == 0 || over[0].Region != l.Region || over[0].Block != buddy {
			return l, joined, err
		}
		joined = append(joined, over[0])
		l.Block = freespace.Ancestor(l.Block, l.Block.Bits()-1)
	}
	return l, joined, nil
}
