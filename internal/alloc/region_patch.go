package alloc

import (
	"context"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/ipam"
)

// prepareRegions foretells, from the pool as it was read first, what a patch needs at home: all that is free in the regions that the pool is not to serve any
// more, and what is to be reserved. Whatever is wrong with the patch is for the transaction to say.
//
// The answer is the regions to be given up that have nothing left of the pool: if the transaction finds something of it in one, that was lent meanwhile.
func (s *Service) prepareRegions(ctx context.Context, first ipam.Pool, r Request, mutate func(ipam.Pool) (ipam.Pool, error)) (emptied []string, err error) {
	if !first.Several() || r.DryRun || r.IfMatch.Check(first.Revision) != nil {
		return nil, nil //nolint:nilerr // the transaction says so
	}
	next, err := mutate(first)
	if err != nil || next.Spec.Check() != nil {
		return nil, nil //nolint:nilerr // the transaction meets it again
	}
	if next.Spec.Region = first.Region; settleRegions(ctx, s.store, &next.Spec) != nil {
		return nil, nil //nolint:nilerr // likewise
	}
	leaving := gone(first.Spec.Regions, next.Spec.Regions)
	if stays, err := s.holdsIn(ctx, first, leaving); err != nil || stays {
		return nil, err // the transaction says so; what is not given up keeps its stock
	}
	if err := s.bringHome(ctx, first, leaving...); err != nil {
		return nil, err
	}
	if slices.Equal(first.Spec.Reservations, next.Spec.Reservations) {
		return leaving, nil
	}
	blocks, err := reservedBlocks(next.Block, next.Spec.Reservations)
	if err != nil {
		return leaving, nil //nolint:nilerr // likewise
	}
	for _, b := range blocks {
		if err := s.parted(ctx, first, b); err != nil {
			return nil, err
		}
	}
	return leaving, nil
}

// holdsIn reports whether blocks of a pool are held in one of some regions besides its home.
func (s *Service) holdsIn(ctx context.Context, p ipam.Pool, regions []string) (bool, error) {
	for _, r := range regions {
		if r == p.Region {
			continue
		}
		one, err := s.store.AllocationListInPool(ctx, PoolContainer(placed(p, r)), p.Block, netip.Addr{}, 1)
		if err != nil || len(one) > 0 {
			return len(one) > 0, err
		}
	}
	return false, nil
}

// parted brings a block home, or what is free of it.
func (s *Service) parted(ctx context.Context, p ipam.Pool, b reserved) error {
	for range maxLoansMoved {
		loans, err := s.store.LoansOver(ctx, p.UID, b.block, 1)
		if err != nil || len(loans) == 0 {
			return err
		}
		part := loans[0].Block
		if part.Bits() < b.block.Bits() {
			part = b.block
		}
		if moved, err := s.recall(ctx, p, loans[0].Region, thisVery(part)); err != nil || !moved {
			return err
		}
	}
	return nil
}

// gone is what is in a list and not in the next one.
func gone(was, next []string) (out []string) {
	for _, r := range was {
		if !slices.Contains(next, r) {
			out = append(out, r)
		}
	}
	return out
}

// reregion is what serving other regions than before changes. A pool that is at home alone has no records, and begins with all of it at home.
func reregion(ctx context.Context, tx Tx, was, next ipam.Pool, dryRun bool) (RegionChanges, error) {
	ended, err := endRegions(ctx, tx, was, gone(was.Spec.Regions, next.Spec.Regions), dryRun)
	if err != nil {
		return RegionChanges{}, err
	}
	return RegionChanges{
		PoolRegionDelete: ended, PoolRegionInsert: beginRegions(next, gone(next.Spec.Regions, was.Spec.Regions)),
	}, nil
}
