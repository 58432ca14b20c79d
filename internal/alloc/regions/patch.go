package regions

import (
	"context"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/carve"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// leaver moves all free blocks home from the regions that a pool will no longer serve.
type leaver struct{ *mover }

// PrepareRegions recalls the blocks that a patch needs in the pool's home region. These are all free blocks in the regions that the pool will leave,
// and the blocks that it will reserve. PrepareRegions predicts them from the first read of the pool. It ignores an invalid patch, because the patch's
// transaction returns the error.
//
// It returns the regions that the pool will leave and that now have none of its blocks. If the transaction finds blocks in such a region, the blocks
// were lent meanwhile.
func (s *leaver) PrepareRegions(ctx context.Context, first ipam.Pool, r usecase.Request, mutate func(ipam.Pool) (ipam.Pool, error)) (emptied []string, err error) {
	if !first.MultiRegion() || r.DryRun || r.IfMatch.Check(first.Revision) != nil {
		return nil, nil //nolint:nilerr // the transaction returns the error
	}
	next, err := mutate(first)
	if err != nil || next.Spec.Check() != nil {
		return nil, nil //nolint:nilerr // the transaction returns the error
	}
	if next.Spec.Region = first.Region; NormalizeRegions(ctx, s.Store, &next.Spec) != nil {
		return nil, nil //nolint:nilerr // the transaction returns the error
	}
	leaving := missingIn(first.Spec.Regions, next.Spec.Regions)
	if stays, err := s.HoldsIn(ctx, first, leaving); err != nil || stays {
		return nil, err // the transaction returns the error, and the region keeps its free blocks
	}
	if err := s.BringHome(ctx, first, leaving...); err != nil {
		return nil, err
	}
	if slices.Equal(first.Spec.Reservations, next.Spec.Reservations) {
		return leaving, nil
	}
	blocks, err := carve.CutReservations(next.Block, next.Spec.Reservations)
	if err != nil {
		return leaving, nil //nolint:nilerr // the transaction returns the error
	}
	for _, b := range blocks {
		if err := s.recallParts(ctx, first, b); err != nil {
			return nil, err
		}
	}
	return leaving, nil
}

// HoldsIn reports whether a pool's blocks are held in any of the regions. It ignores the home region.
func (s *leaver) HoldsIn(ctx context.Context, p ipam.Pool, regions []string) (bool, error) {
	for _, r := range regions {
		if r == p.Region {
			continue
		}
		one, err := s.Store.AllocationListInPool(ctx, storage.PoolContainer(storage.Placed(p, r)), p.Block, netip.Addr{}, 1)
		if err != nil || len(one) > 0 {
			return len(one) > 0, err
		}
	}
	return false, nil
}

// BringHome recalls all the pool's free blocks from the given regions.
func (s *leaver) BringHome(ctx context.Context, p ipam.Pool, regions ...string) error {
	for _, r := range regions {
		for r != p.Region {
			moved, err := s.recall(ctx, p, r, largestBlock)
			if err != nil {
				return err
			}
			if !moved {
				break
			}
		}
	}
	return nil
}

// recallParts recalls a block to the home region. If the block is not entirely free, it recalls its free parts.
func (s *leaver) recallParts(ctx context.Context, p ipam.Pool, b carve.Reserved) error {
	for range maxLoansMoved {
		loans, err := s.Store.LoansOver(ctx, p.UID, b.Block, 1)
		if err != nil || len(loans) == 0 {
			return err
		}
		part := loans[0].Block
		if part.Bits() < b.Block.Bits() {
			part = b.Block
		}
		if moved, err := s.recall(ctx, p, loans[0].Region, exactBlock(part)); err != nil || !moved {
			return err
		}
	}
	return nil
}

// missingIn returns a list's elements that are missing in the next list.
func missingIn(was, next []string) (out []string) {
	for _, r := range was {
		if !slices.Contains(next, r) {
			out = append(out, r)
		}
	}
	return out
}

// RegionChanges returns the changes to the region records if a pool changes its regions. A pool that serves only its home region has no records. When
// it begins to serve other regions, the home region has all its blocks.
func RegionChanges(ctx context.Context, tx storage.Tx, was, next ipam.Pool, dryRun bool) (storage.RegionChanges, error) {
	ended, err := EndRegions(ctx, tx, was, missingIn(was.Spec.Regions, next.Spec.Regions), dryRun)
	if err != nil {
		return storage.RegionChanges{}, err
	}
	return storage.RegionChanges{
		PoolRegionDelete: ended, PoolRegionInsert: BeginRegions(next, missingIn(next.Spec.Regions, was.Spec.Regions)),
	}, nil
}
