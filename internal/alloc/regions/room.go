package regions

import (
	"context"
	"errors"
	"net/netip"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// MakeRoom handles a request that found no room in a pool. It returns the pool for a retry. If no region has room, it returns nil. In a dry run, it
// moves no block, and returns the pool as it is used in a region that has room.
func (s *borrower) MakeRoom(ctx context.Context, lack *NoRoom, dryRun bool) (*ipam.Pool, error) {
	p := lack.Pool
	switch {
	case !p.MultiRegion() || lack.Request.Exact.IsValid():
		return nil, nil //nolint:nilnil // documented above
	case dryRun:
		there, err := s.findRoom(ctx, p, lack.Request.Bits)
		for r := range there.regions {
			p = storage.Placed(p, r)
			return &p, err
		}
		return nil, err
	}
	err := s.borrow(ctx, p, lack.Request.Bits)
	if errors.Is(err, ErrNoRoom) {
		return nil, nil //nolint:nilnil // documented above
	}
	return &p, err
}

// InTransit reports whether no region holds an exact CIDR that a claim could not get. The block was then moving between two regions.
func (s *borrower) InTransit(ctx context.Context, p ipam.Pool, block netip.Prefix, dryRun bool) (bool, error) {
	if !p.MultiRegion() || !block.IsValid() || dryRun || !p.Block.Contains(block.Addr()) || block.Bits() < p.Block.Bits() {
		return false, nil
	}
	return nothingHeld(ctx, s.Store, storage.PoolContainers(p), block)
}

// LocateExact returns a pool as it is used in the region that has an exact CIDR. If parts of the CIDR are lent, it first recalls the free parts. If a
// region holds a part, LocateExact returns the pool in that region.
func (s *borrower) LocateExact(ctx context.Context, p ipam.Pool, block netip.Prefix, dryRun bool) (ipam.Pool, error) {
	if !p.MultiRegion() || !p.Block.Contains(block.Addr()) || block.Bits() < p.Block.Bits() {
		return storage.Placed(p, p.Region), nil
	}
	for range maxLoansMoved {
		loans, err := s.Store.LoansOver(ctx, p.UID, block, 1)
		if err != nil || len(loans) == 0 {
			return storage.Placed(p, p.Region), err
		}
		if loans[0].Block.Bits() <= block.Bits() || dryRun {
			return storage.Placed(p, loans[0].Region), nil
		}
		moved, err := s.recall(ctx, p, loans[0].Region, exactBlock(loans[0].Block))
		if err != nil {
			return p, err
		}
		if !moved { // the region holds at least a part of the block
			return storage.Placed(p, loans[0].Region), nil
		}
	}
	return storage.Placed(p, p.Region), nil
}

// ErrNoRoom means that no tried pool has room.
var ErrNoRoom = ipam.Errorf(ipam.CodePoolExhausted, "None of the pools has room.")

// NoRoom means that a pool had no room for a block request.
type NoRoom struct {
	Request freespace.BlockRequest
	Pool    ipam.Pool // the pool at that moment

	Stock *ipam.Stock // the pool's free blocks at that moment; nil if they are not known
}

// Error implements error.
func (*NoRoom) Error() string { return "the pool has no room" }
