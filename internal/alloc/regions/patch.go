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

// leaver empties regions that a pool is not to serve any more.
type leaver struct{ *mover }

// PrepareRegions foretells, from the pool as it was read first, what a patch needs at home: all that is free in the regions that the pool is not to serve any
// more, and what is to be reserved. Whatever is wrong with the patch is for the transaction to say.
//
// The answer is the regions to be given up that have nothing left of the pool: if the transaction finds something of it in one, that was lent meanwhile.
func (s *leaver) PrepareRegions(ctx context.Context, first ipam.Pool, r usecase.Request, mutate func(ipam.Pool) (ipam.Pool, error)) (emptied []string, err error) {
	if !first.Several() || r.DryRun || r.IfMatch.Check(first.Revision) != nil {
		return nil, nil //nolint:nilerr // the transaction says so
	}
	next, err := mutate(first)
	if err != nil || next.Spec.Check() != nil {
		return nil, nil //nolint:nilerr // the transaction meets it again
	}
	if next.Spec.Region = first.Region; SettleRegions(ctx, s.Store, &next.Spec) != nil {
		return nil, nil //nolint:nilerr // likewise
	}
	leaving := gone(first.Spec.Regions, next.Spec.Regions)
	if stays, err := s.HoldsIn(ctx, first, leaving); err != nil || stays {
		return nil, err // the transaction says so; what is not given up keeps its stock
	}
	if err := s.BringHome(ctx, first, leaving...); err != nil {
		return nil, err
	}
	if slices.Equal(first.Spec.Reservations, next.Spec.Reservations) {
		return leaving, nil
	}
	blocks, err := carve.CutReservations(next.Block, next.Spec.Reservations)
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

// HoldsIn reports whether blocks of a pool are held in one of some regions besides its home.
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

// BringHome recalls everything that is free in the regions that a pool was lent to.
func (s *leaver) BringHome(ctx context.Context, p ipam.Pool, regions ...string) error {
	for _, r := range regions {
		for r != p.Region {
			moved, err := s.recall(ctx, p, r, whatever)
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

// parted brings a block home, or what is free of it.
func (s *leaver) parted(ctx context.Context, p ipam.Pool, b carve.Reserved) error {
	for range maxLoansMoved {
		loans, err := s.Store.LoansOver(ctx, p.UID, b.Block, 1)
		if err != nil || len(loans) == 0 {
			return err
		}
		part := loans[0].Block
		if part.Bits() < b.Block.Bits() {
			part = b.Block
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

// Reregion is what serving other regions than before changes. A pool that is at home alone has no records, and begins with all of it at home.
func Reregion(ctx context.Context, tx storage.Tx, was, next ipam.Pool, dryRun bool) (storage.RegionChanges, error) {
	ended, err := EndRegions(ctx, tx, was, gone(was.Spec.Regions, next.Spec.Regions), dryRun)
	if err != nil {
		return storage.RegionChanges{}, err
	}
	return storage.RegionChanges{
		PoolRegionDelete: ended, PoolRegionInsert: BeginRegions(next, gone(next.Spec.Regions, was.Spec.Regions)),
	}, nil
}
