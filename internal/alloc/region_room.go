package alloc

import (
	"context"
	"errors"
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

// moreRoom answers a pool as it is to be tried again after it had no room for a wish; nil: no region of it has. A dry run moves nothing: it tries where
// there is room.
func (s *Service) moreRoom(ctx context.Context, lack *noRoom, dryRun bool) (*ipam.Pool, error) {
	p := lack.pool
	switch {
	case !p.Several() || lack.wish.Exact.IsValid():
		return nil, nil //nolint:nilnil // said above
	case dryRun:
		there, err := s.lookEverywhere(ctx, p, lack.wish.Bits)
		for r := range there.regions {
			p = placed(p, r)
			return &p, err
		}
		return nil, err
	}
	err := s.borrow(ctx, p, lack.wish.Bits)
	if errors.Is(err, errNoRoom) {
		return nil, nil //nolint:nilnil // said above
	}
	return &p, err
}

// onItsWay reports that a very block of a pool, which could not be had in the region that it seemed to be in, is held in none: it was being lent or recalled.
func (s *Service) onItsWay(ctx context.Context, p ipam.Pool, block netip.Prefix, dryRun bool) (bool, error) {
	if !p.Several() || !block.IsValid() || dryRun || !p.Block.Contains(block.Addr()) || block.Bits() < p.Block.Bits() {
		return false, nil
	}
	return nothingHeld(ctx, s.store, poolContainers(p), block)
}

// gathered is a pool placed where a very block of it is. If parts of the block are lent, those that are free are brought home first: what is left of
// it elsewhere is held there.
func (s *Service) gathered(ctx context.Context, p ipam.Pool, block netip.Prefix, dryRun bool) (ipam.Pool, error) {
	if !p.Several() || !p.Block.Contains(block.Addr()) || block.Bits() < p.Block.Bits() {
		return placed(p, p.Region), nil
	}
	for range maxLoansMoved {
		loans, err := s.store.LoansOver(ctx, p.UID, block, 1)
		if err != nil || len(loans) == 0 {
			return placed(p, p.Region), err
		}
		if loans[0].Block.Bits() <= block.Bits() || dryRun {
			return placed(p, loans[0].Region), nil
		}
		moved, err := s.recall(ctx, p, loans[0].Region, thisVery(loans[0].Block))
		if err != nil {
			return p, err
		}
		if !moved { // held there, at least in part
			return placed(p, loans[0].Region), nil
		}
	}
	return placed(p, p.Region), nil
}
