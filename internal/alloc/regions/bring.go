package regions

import (
	"context"
	"math/bits"
	"net/netip"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// SupplyDemand moves blocks to the region where a pool is used. It continues until these blocks meet a demand, or no region can add more. The blocks
// come from the home region, or through the home region from the other regions. If the region's blocks were enough from the start, the batch failed
// for another reason, and SupplyDemand moves one more block.
func (s *borrower) SupplyDemand(ctx context.Context, d Demand) error {
	for n := range len(d.Lengths) + len(d.Later) + usecase.MaxRounds { // one round for each block, and some rounds more because concurrent callers may take moved blocks
		has, err := usecase.InTx(ctx, s.Core, "region_look", storage.Locks{}, true, func(ctx context.Context, tx storage.Tx) (Supply, error) {
			return ReadSupply(ctx, tx, d)
		})
		if err != nil || !has.CanGrow() || has.Refused != nil {
			return err
		}
		length, missing := shortage(d.Pool, has.here, has.wanted)
		if missing == 0 && n > 0 {
			return nil
		}
		if err := s.moveNearer(ctx, d.Pool, has, length, missing); err != nil {
			return err
		}
	}
	return nil
}

// moveNearer moves one block one step nearer to the region where the pool is used. It prefers a block that covers all missing blocks, and otherwise
// takes the largest one. If a block is free only in parts, moveNearer recalls the parts.
func (s *borrower) moveNearer(ctx context.Context, p ipam.Pool, has Supply, length, missing int) error {
	from, largest := "", length+1
	if missing == 0 {
		largest = p.Block.Addr().BitLen() + 1
	}
	for r, free := range has.others {
		for _, f := range free {
			if f.Bits() < largest || f.Bits() == largest && from != "" && r == p.Region {
				from, largest = r, f.Bits()
			}
		}
	}
	if from == "" {
		return s.recallFrom(ctx, p, regionalRoom{split: has.split}, length)
	}
	need := largest
	if missing > 0 {
		need = max(need, length-bits.Len(uint(missing-1)))
	}
	if roomAtHome := anyLargeEnough(has.others[p.Region], need); p.UsedIn != "" && roomAtHome {
		_, err := s.lend(ctx, p, p.UsedIn, need, true)
		return err
	}
	moved, err := s.recall(ctx, p, from, halfOfLargest(need))
	if err == nil && moved && p.UsedIn != "" {
		_, err = s.lend(ctx, p, p.UsedIn, need, true)
	}
	return err
}

// anyLargeEnough reports whether any free block is large enough for a block with the given length.
func anyLargeEnough(free []netip.Prefix, length int) bool {
	for _, f := range free {
		if f.Bits() <= length {
			return true
		}
	}
	return false
}
