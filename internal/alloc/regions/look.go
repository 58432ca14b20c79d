package regions

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// everywhere is where in a pool there is room for a length, at one moment.
type everywhere struct {
	regions map[string]bool // those that have a free block which can hold it
	apart   []ipam.Loan     // no region has; but a block would be free as a whole if these loans were not: they are free themselves
}

func (e everywhere) nothing() bool { return len(e.regions) == 0 && len(e.apart) == 0 }

// lookEverywhere looks for room in all regions of a pool, in one transaction: that there is none is true of the moment at which it is said. It costs a probe for each
// region, and if none has room, one for each region and each block of the length in which there are loans.
func (s *borrower) lookEverywhere(ctx context.Context, p ipam.Pool, need int) (everywhere, error) {
	return usecase.InTx(ctx, s.Core, "region_look", storage.Locks{}, false, func(ctx context.Context, tx storage.Tx) (there everywhere, err error) {
		containers := storage.PoolContainers(p)
		ask := make([]storage.RoomQuery, len(containers))
		for i, c := range containers {
			ask[i] = storage.RoomQuery{Container: c, Bits: need}
		}
		if there.regions, err = tx.RoomByRegion(ctx, ask); err != nil || len(there.regions) > 0 {
			return there, err
		}
		there.apart, err = loansApart(ctx, tx, p, containers, need)
		return there, err
	})
}

// loansApart finds a block of a length that is free, but in parts: some of it is lent. All of a block is free if nothing is held in it in any region.
func loansApart(ctx context.Context, tx storage.Reader, p ipam.Pool, containers []storage.Container, need int) ([]ipam.Loan, error) {
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
					continue // it would hold the length itself
				}
				block := space.Ancestor(l.Block, need)
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

// wholeOf reports whether loans to one region make up a block, which then is not apart.
func wholeOf(loans []ipam.Loan, block netip.Prefix) bool {
	rest := space.Size(block)
	for _, l := range loans {
		if l.Region != loans[0].Region {
			return false
		}
		rest.Sub(rest, space.Size(l.Block))
	}
	return rest.Sign() <= 0
}

// nothingHeld reports whether no part of a block is held in any of the containers, be it with more than the block or with less.
func nothingHeld(ctx context.Context, read storage.Reader, containers []storage.Container, block netip.Prefix) (bool, error) {
	var above []netip.Prefix
	for bits := block.Bits(); bits >= containers[0].Block.Bits(); bits-- {
		above = append(above, space.Ancestor(block, bits))
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
