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

// leaver empties regions that a pool will not serve any more.
type leaver struct{ *mover }

// PrepareRegions predicts, from the pool as first read, which blocks a patch needs at home, and recalls them: all free blocks in the regions that the
// pool will leave, and blocks to reserve. It ignores an invalid patch; the transaction reports the error.
//
// It returns the regions to leave that hold nothing from the pool. If the transaction finds blocks in such a region, they were lent meanwhile.
func (s *leaver) PrepareRegions(ctx context.Context, first ipam.Pool, r usecase.Request, mutate func(ipam.Pool) (ipam.Pool, error)) (emptied []string, err error) {
	if !first.Several() || r.DryRun || r.IfMatch.Check(first.Revision) != nil {
		return nil, nil //nolint:nilerr // the transaction returns the error
	}
	next, err := mutate(first)
	if err != nil || next.Spec.Check() != nil {
		return nil, nil //nolint:nilerr // the transaction returns the error
	}
	if next.Spec.Region = first.Region; NormalizeRegions(ctx, s.Store, &next.Spec) != nil {
		return nil, nil //nolint:nilerr // the transaction returns the error
	}
	leaving := gone(first.Spec.Regions, next.Spec.Regions)
	if stays, err := s.HoldsIn(ctx, first, leaving); err != nil || stays {
		return nil, err // the transaction reports it; the region keeps its stock
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

// HoldsIn reports whether a region in the list, other than the home, holds a pool's blocks.
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

// BringHome recalls all free blocks from the regions to which a pool was lent.
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

// recallParts recalls a block to the home region, or its free parts.
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

// gone returns the elements in a list that are missing in the next one.
func gone(was, next []string) (out []string) {
	for _, r := range was {
		if !slices.Contains(next, r) {
			out = append(out, r)
		}
	}
	return out
}

// RegionChanges returns the changes to region records when a pool changes its regions. A pool with its home region alone has no records; when it gets
// some, all of it is at home.
func RegionChanges(ctx context.Context, tx storage.Tx, was, next ipam.Pool, dryRun bool) (storage.RegionChanges, error) {
	ended, err := EndRegions(ctx, tx, was, gone(was.Spec.Regions, next.Spec.Regions), dryRun)
	if err != nil {
		return storage.RegionChanges{}, err
	}
	return storage.RegionChanges{
		PoolRegionDelete: ended, PoolRegionInsert: BeginRegions(next, gone(next.Spec.Regions, was.Spec.Regions)),
	}, nil
}
