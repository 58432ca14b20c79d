package claims

import (
	"context"
	"errors"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/refusals"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// loans looks, for batches, for what their pools have in other regions: very blocks wherever they are, and what blocks of any place lack.
type loans struct {
	*usecase.Core

	regions *regions.Regions
}

// notThere says of a batch that a very block which it asks for is not free where it seemed to be. It may have been on its way between regions.
type notThere struct {
	block   netip.Prefix
	pools   []ipam.Pool
	refusal error // if it is held
}

// Error implements error.
func (*notThere) Error() string { return "the very block is not free there" }

// unlessOnItsWay is the refusal of a very block, unless it may be on its way between regions: it cannot be if the batch itself holds some of it.
func (a *attempt) unlessOnItsWay(refusal error, pools []ipam.Pool, block netip.Prefix) error {
	err := &notThere{block: block, refusal: refusal}
	for _, p := range pools {
		if p.Several() && !a.holds(p.UID, block) {
			err.pools = append(err.pools, p)
		}
	}
	if a.batch.dryRun() || len(err.pools) == 0 {
		return refusal
	}
	return err
}

// holds reports whether the batch has taken some of a block of a pool, in whichever region.
func (a *attempt) holds(pool ipam.ID, block netip.Prefix) bool {
	return slices.ContainsFunc(a.drawn, func(src *source) bool {
		return src.pool.UID == pool && slices.ContainsFunc(src.taken, func(g granted) bool { return space.Overlaps(g.block, block) })
	})
}

// gather places the pools of the orders that ask for a very block where that block is.
func (s loans) gather(ctx context.Context, b *batch) error {
	for _, c := range b.choices {
		block := c.Ask.Spec.Exact()
		if block.IsValid() && c.First != nil {
			block = c.First.Block(c.Ask)
		}
		if !block.IsValid() || !slices.ContainsFunc(c.Pools, ipam.Pool.Several) {
			continue
		}
		c.Pools = slices.Clone(c.Pools)
		for i, p := range c.Pools {
			var err error
			if c.Pools[i], err = s.regions.Gathered(ctx, p, block, b.dryRun()); err != nil {
				return err
			}
		}
		c.room = c.Pools
	}
	return nil
}

// mend does what regions can do about the refusal of a batch, which is to be run again then, or else answers the error to be told: the batch is refused at
// a moment at which no region could have helped.
func (s loans) mend(ctx context.Context, b *batch, refused error) (again bool, err error) {
	if there, ok := errors.AsType[*notThere](refused); ok {
		for _, p := range there.pools {
			free, failed := s.regions.OnItsWay(ctx, p, there.block, false)
			again = again || free && failed == nil
		}
		if again {
			return true, nil
		}
		return false, there.refusal
	}
	if lack, ok := errors.AsType[*refusals.Lacking](refused); ok && len(lack.Demands) > 0 && !b.dryRun() {
		return s.bring(ctx, b)
	}
	return false, refused
}

// bring looks, in one transaction, whether a batch has still no room, and whether the regions have it together; if so it brings what is missing. The
// batch is to be run again, or else the error says why it is refused: of that moment this is true in every region.
func (s loans) bring(ctx context.Context, b *batch) (again bool, err error) {
	short, err := usecase.InTx(ctx, s.Core, "region_look", storage.Locks{}, true, func(ctx context.Context, tx storage.Tx) (*regions.Demand, error) {
		a := newAttempt(tx, b, s.Region)
		a.whole = true // what is missing is told from all that is free, and not from few rows of it
		err := a.serveAll(ctx)
		lack, ok := errors.AsType[*refusals.Lacking](err)
		if !ok {
			return nil, err
		}
		for _, d := range lack.Demands {
			has, failed := regions.LookFor(ctx, tx, d)
			if l := has.Refused; l != nil && len(lack.Demands) == 1 && failed == nil {
				return nil, a.lacking(l.Item, []ipam.Pool{d.Pool}, l.Bits)
			}
			if failed != nil || has.More() {
				return &d, failed
			}
		}
		return nil, err
	})
	if _, moves := errors.AsType[*notThere](err); moves {
		return true, nil // the next attempt meets it again
	}
	if err == nil && short != nil {
		err = s.regions.BringFor(ctx, *short)
	}
	return err == nil, err
}
