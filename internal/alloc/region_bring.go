package alloc

import (
	"context"
	"math/bits"
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

// bringFor brings blocks to where a pool is drawn from until they are enough for a demand, or nothing else of it can be had: from its home, and by way of
// that from the other regions. Where they are enough to begin with, and something keeps the demand from being served nevertheless, it brings one block more.
func (s *Service) bringFor(ctx context.Context, d demand) error {
	for n := range len(d.lengths) + len(d.later) + maxRounds { // one block each, and some for those who take what was just brought
		has, err := inTx(ctx, s, "region_look", Locks{}, true, func(ctx context.Context, tx Tx) (supply, error) {
			return lookFor(ctx, tx, d)
		})
		if err != nil || !has.more() || has.refused != nil {
			return err
		}
		length, missing := shortage(d.pool, has.here, has.wanted)
		if missing == 0 && n > 0 {
			return nil
		}
		if err := s.bringOne(ctx, d.pool, has, length, missing); err != nil {
			return err
		}
	}
	return nil
}

// bringOne brings a block that holds all the missing ones, or the largest that there is, a step nearer. What is free in parts it brings together.
func (s *Service) bringOne(ctx context.Context, p ipam.Pool, has supply, length, missing int) error {
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
		return s.bringFrom(ctx, p, everywhere{apart: has.apart}, length)
	}
	need := largest
	if missing > 0 {
		need = max(need, length-bits.Len(uint(missing-1)))
	}
	if roomAtHome := holds(has.others[p.Region], need); p.At != "" && roomAtHome {
		_, err := s.lend(ctx, p, p.At, need, true)
		return err
	}
	moved, err := s.recall(ctx, p, from, sparing(need))
	if err == nil && moved && p.At != "" {
		_, err = s.lend(ctx, p, p.At, need, true)
	}
	return err
}

// holds reports whether one of some free blocks can hold a block of a length.
func holds(free []netip.Prefix, length int) bool {
	for _, f := range free {
		if f.Bits() <= length {
			return true
		}
	}
	return false
}
