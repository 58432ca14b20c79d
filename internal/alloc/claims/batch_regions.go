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

// notThere says of a batch that a very block which it asks for is not free where it seemed to be. It may have been on its way between regions.
type notThere struct {
	block   netip.Prefix
	pools   []ipam.Pool
	refusal error // if it is held
}

// Error implements error.
func (*notThere) Error() string { return "the very block is not free there" }

// granted is a wish that a batch was granted.
type granted struct {
	wish  space.Wish
	block netip.Prefix
}

// unlessOnItsWay is the refusal of a very block, unless it may be on its way between regions: it cannot be if the batch itself holds some of it.
func (run *batchRun) unlessOnItsWay(refusal error, pools []ipam.Pool, block netip.Prefix) error {
	err := &notThere{block: block, refusal: refusal}
	for _, p := range pools {
		if p.Several() && !run.holds(p.UID, block) {
			err.pools = append(err.pools, p)
		}
	}
	if run.batch.request.DryRun || len(err.pools) == 0 {
		return refusal
	}
	return err
}

// holds reports whether the batch has taken some of a block of a pool, in whichever region.
func (run *batchRun) holds(pool ipam.ID, block netip.Prefix) bool {
	return slices.ContainsFunc(run.order, func(t *batchPool) bool {
		return t.pool.UID == pool && slices.ContainsFunc(t.taken, func(g granted) bool { return space.Overlaps(g.block, block) })
	})
}

// demands is what the batch wants of those of some pools that serve several regions: what it has taken of each, a block for item i, which it could not
// have, and what the items after it will want there.
func (run *batchRun) demands(i int, c *choice, pools []ipam.Pool) (all []regions.Demand) {
	for _, p := range pools {
		w, err := c.WantedOf(p)
		if err != nil || !p.Several() || run.opened[storage.PoolContainer(p).Lock()] == nil {
			continue
		}
		d := regions.Demand{Pool: p, Lengths: []int{w.Bits}}
		for _, t := range run.order {
			for _, g := range t.taken {
				switch {
				case t.pool.UID != p.UID:
				case g.wish.Exact.IsValid():
					d.Exact = append(d.Exact, g.block)
				default:
					d.Lengths = append(d.Lengths, g.wish.Bits)
				}
			}
		}
		d.Later = run.later(i, p)
		all = append(all, d)
	}
	return all
}

// later is what the items after item i will want of a pool that is the first that they are served from.
func (run *batchRun) later(i int, p ipam.Pool) (wants []regions.LaterWant) {
	for j := i + 1; j < len(run.batch.items); j++ {
		c := run.batch.items[j].choice
		if c.First != nil || len(c.room) == 0 || c.room[0].UID != p.UID {
			continue
		}
		if w, err := c.Ask.Wanted(p); err == nil && !w.Exact.IsValid() {
			wants = append(wants, regions.LaterWant{Item: j, Bits: w.Bits, Only: len(c.Pools) == 1})
		}
	}
	return wants
}

// runBatchBorrowing runs a batch until it is bound, or refused at a moment at which no region could have helped: the very blocks are looked for wherever they
// are, and what blocks of any place lack is brought from other regions. It gives up when it comes no further.
func (s *Claims) runBatchBorrowing(ctx context.Context, b *batch, byPool map[ipam.ID][]*choice) ([]ipam.Claim, error) {
	furthest := -1
	for tries := 0; tries < usecase.MaxRounds; tries++ {
		if err := s.gatherAll(ctx, b); err != nil {
			return nil, err
		}
		bound, err := s.runBatch(ctx, b, byPool)
		again := false
		if there, ok := errors.AsType[*notThere](err); ok {
			err = there.refusal
			for _, p := range there.pools {
				free, failed := s.regions.OnItsWay(ctx, p, there.block, false)
				again = again || free && failed == nil
			}
		}
		if lack, ok := errors.AsType[*refusals.Lacking](err); ok && len(lack.Demands) > 0 && !b.request.DryRun {
			if lack.Item > furthest {
				furthest, tries = lack.Item, 0
			}
			again, err = s.bringForBatch(ctx, b, byPool)
		}
		if !again {
			return bound, err
		}
	}
	return nil, storage.Contention(nil)
}

// gatherAll places the pools of the items that ask for a very block where that block is.
func (s *Claims) gatherAll(ctx context.Context, b *batch) error {
	for _, c := range b.choices() {
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
			if c.Pools[i], err = s.regions.Gathered(ctx, p, block, b.request.DryRun); err != nil {
				return err
			}
		}
		c.room = c.Pools
	}
	return nil
}

// bringForBatch looks, in one transaction, whether a batch has still no room, and whether the regions have it together; if so it brings what is missing. The
// batch is to be run again, or else the error says why it is refused: of that moment this is true in every region.
func (s *Claims) bringForBatch(ctx context.Context, b *batch, byPool map[ipam.ID][]*choice) (again bool, err error) {
	short, err := usecase.InTx(ctx, s.Core, "region_look", storage.Locks{}, true, func(ctx context.Context, tx storage.Tx) (*regions.Demand, error) {
		run := newBatchRun(tx, b, byPool)
		_, _, err := run.plan(ctx)
		lack, ok := errors.AsType[*refusals.Lacking](err)
		if !ok {
			return nil, err
		}
		for _, d := range lack.Demands {
			has, failed := regions.LookFor(ctx, tx, d)
			if l := has.Refused; l != nil && len(lack.Demands) == 1 && failed == nil {
				return nil, run.lacking(l.Item, b.items[l.Item].choice, []ipam.Pool{d.Pool}, l.Bits)
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
