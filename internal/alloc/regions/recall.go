package regions

import (
	"context"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// blockSelector selects a region's free block to recall.
type blockSelector func(ctx context.Context, t *moveTx) (netip.Prefix, error)

// recall moves one of a pool's free blocks from a region back to the home region, and reports whether it moved one.
func (s *mover) recall(ctx context.Context, p ipam.Pool, region string, choose blockSelector) (bool, error) {
	return s.move(ctx, "region_recall", p, region, func(ctx context.Context, t *moveTx) (storage.Changes, error) {
		block, err := choose(ctx, t)
		if err != nil || !block.IsValid() {
			return storage.Changes{}, err
		}
		block, loans, err := t.loansOf(ctx, block)
		if err != nil {
			return storage.Changes{}, err
		}
		block, free, ok, err := t.moveBlock(ctx, t.away, t.home, freespace.BlockRequest{Exact: block, Bits: block.Bits()})
		if err != nil || !ok {
			return storage.Changes{}, err
		}
		return storage.Changes{Free: free, RegionChanges: storage.RegionChanges{
			LoanDelete: loans, LoanInsert: remainingLoans(loans, block), PoolRegionUpdate: t.newRecords(func(*ipam.PoolRegion) {}),
		}}, nil
	})
}

// maxLoansMoved limits the loans that one recall ends.
const maxLoansMoved = 64

// loansOf returns the loans that cover a free block in the region: one larger loan, or several smaller ones. If there are too many loans, loansOf
// reduces the block to the first loan.
func (t *moveTx) loansOf(ctx context.Context, block netip.Prefix) (netip.Prefix, []ipam.Loan, error) {
	loans, err := t.tx.LoansOver(ctx, t.pool.UID, block, maxLoansMoved+1)
	if err != nil {
		return block, nil, err
	}
	if len(loans) > maxLoansMoved {
		loans = loans[:1]
		block = loans[0].Block
	}
	for _, l := range loans {
		if l.Region != t.region {
			loans = nil
		}
	}
	if len(loans) == 0 {
		return block, nil, ipam.Errorf(ipam.CodeInternal, "The loans of pool %s are inconsistent. Nothing was changed; run the audit.", t.pool.Ref())
	}
	return block, loans, nil
}

// remainingLoans returns the loans that remain after a block in these loans is recalled.
func remainingLoans(loans []ipam.Loan, block netip.Prefix) (rest []ipam.Loan) {
	for _, l := range loans {
		if !freespace.Contains(l.Block, block) {
			continue // this loan is recalled entirely
		}
		for _, b := range freespace.Carve(l.Block, block) {
			rest = append(rest, ipam.Loan{PoolID: l.PoolID, Region: l.Region, Block: b, LentAt: l.LentAt})
		}
	}
	return rest
}

// halfOfLargest selects the upper half of the region's largest free block. If that half is smaller than a block of prefix length need, it selects the
// whole block.
func halfOfLargest(need int) blockSelector {
	return func(ctx context.Context, t *moveTx) (netip.Prefix, error) {
		free, err := t.tx.FreeList(ctx, t.away, need, netip.Prefix{}, 1)
		if err != nil || len(free) == 0 {
			return netip.Prefix{}, err
		}
		if free[0].Bits() < need {
			_, high := freespace.Halves(free[0])
			return high, nil
		}
		return free[0], nil
	}
}

func largestBlock(ctx context.Context, t *moveTx) (netip.Prefix, error) {
	free, err := t.tx.FreeList(ctx, t.away, t.pool.Block.Addr().BitLen(), netip.Prefix{}, 1)
	if err != nil || len(free) == 0 {
		return netip.Prefix{}, err
	}
	return free[0], nil
}

// exactBlock selects exactly this block, if the region still borrows the whole block. The block or parts of it may have been recalled since the caller read
// it.
func exactBlock(block netip.Prefix) blockSelector {
	return func(ctx context.Context, t *moveTx) (netip.Prefix, error) {
		loans, err := t.tx.LoansOver(ctx, t.pool.UID, block, maxLoansMoved+1)
		if err != nil || len(loans) == 0 || slices.ContainsFunc(loans, func(l ipam.Loan) bool { return l.Region != t.region }) {
			return netip.Prefix{}, err
		}
		return block, nil
	}
}

// idleStock selects free space that a region has not needed for a long time. It uses a free block at least twice as large as the last loan. If the
// region has another free block that is large enough for its needs, idleStock selects the whole block. Otherwise it selects half of the block.
func idleStock(need int) blockSelector {
	return func(ctx context.Context, t *moveTx) (netip.Prefix, error) {
		rec, width := t.records[1], t.pool.Block.Addr().BitLen()
		if rec.Loan < 0 || t.now.Sub(rec.LoanedAt) < 2*t.s.runway {
			return netip.Prefix{}, nil
		}
		free, err := t.tx.FreeList(ctx, t.away, lowWater(t.pool.Block, rec, need), netip.Prefix{}, 2)
		if err != nil || len(free) == 0 || width-free[0].Bits() <= rec.Loan {
			return netip.Prefix{}, err
		}
		if len(free) == 2 {
			return free[0], nil
		}
		_, high := freespace.Halves(free[0])
		return high, nil
	}
}
