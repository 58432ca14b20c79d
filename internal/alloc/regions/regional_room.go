package regions

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// regionalRoom describes which of a pool's regions have room for a block with one length, at one moment.
type regionalRoom struct {
	regions map[string]bool // the regions with a large enough free block
	split   []ipam.Loan     // if no region has room: the loans that split a free block with this length between regions
}

func (e regionalRoom) none() bool { return len(e.regions) == 0 && len(e.split) == 0 }

// findRoom searches for room in all regions that a pool serves. It uses one transaction, so that a result without room is true for one moment. It
// costs one probe for each region. If no region has room, it also costs one probe for each region and each block of that length with loans.
func (s *borrower) findRoom(ctx context.Context, p ipam.Pool, need int) (regionalRoom, error) {
	return usecase.InTx(ctx, s.Core, "region_look", storage.Locks{}, false, func(ctx context.Context, tx storage.Tx) (there regionalRoom, err error) {
		containers := storage.PoolContainers(p)
		ask := make([]storage.RoomQuery, len(containers))
		for i, c := range containers {
			ask[i] = storage.RoomQuery{Container: c, Bits: need}
		}
		if there.regions, err = tx.RoomByRegion(ctx, ask); err != nil || len(there.regions) > 0 {
			return there, err
		}
		there.split, err = splittingLoans(ctx, tx, p, containers, need)
		return there, err
	})
}

// splittingLoans finds a block with a given length that is free, but split between regions by loans. A block is free if no region holds anything in
// it. splittingLoans returns the loans that split the block.
func splittingLoans(ctx context.Context, tx storage.Reader, p ipam.Pool, containers []storage.Container, need int) ([]ipam.Loan, error) {
	looked := map[netip.Prefix]bool{}
	for _, c := range containers[1:] {
		for after := (netip.Addr{}); ; {
			loans, err := tx.LoansTo(ctx, p.UID, c.Region, after, maxLoansMoved)
			if err != nil {
				return nil, err
			}
			for _, l := range loans {
				after = l.Block.Addr()
				if l.Block.Bits() <= need {
					continue // the loan itself is large enough
				}
				block := freespace.Ancestor(l.Block, need)
				if looked[block] {
					continue
				}
				looked[block] = true
				free, err := nothingHeld(ctx, tx, containers, block)
				if err != nil {
					return nil, err
				}
				if !free {
					continue
				}
				over, err := tx.LoansOver(ctx, p.UID, block, maxLoansMoved)
				if err != nil || !wholeOf(over, block) {
					return over, err
				}
			}
			if len(loans) < maxLoansMoved {
				break
			}
		}
	}
	return nil, nil
}

// wholeOf reports whether loans to one region cover a whole block. Such a block is not split.
func wholeOf(loans []ipam.Loan, block netip.Prefix) bool {
	rest := freespace.Size(block)
	for _, l := range loans {
		if l.Region != loans[0].Region {
			return false
		}
		rest.Sub(rest, freespace.Size(l.Block))
	}
	return rest.Sign() <= 0
}

// nothingHeld reports whether no container holds any part of a block. It checks the blocks inside this block, and the larger blocks around it.
func nothingHeld(ctx context.Context, read storage.Reader, containers []storage.Container, block netip.Prefix) (bool, error) {
	var above []netip.Prefix
	for bits := block.Bits(); bits >= containers[0].Block.Bits(); bits-- {
		above = append(above, freespace.Ancestor(block, bits))
	}
	held, err := read.HeldAt(ctx, containers, above)
	if err != nil || len(held) > 0 {
		return false, err
	}
	for _, c := range containers {
		held, err := read.AllocationListInPool(ctx, c, block, netip.Addr{}, 1)
		if err != nil || len(held) > 0 {
			return false, err
		}
	}
	return true, nil
}
