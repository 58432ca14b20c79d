package alloc

import (
	"context"
	"errors"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/space"
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
func (run *batchRun) demands(i int, c *choice, pools []ipam.Pool) (all []demand) {
	for _, p := range pools {
		w, err := c.wantedOf(p)
		if err != nil || !p.Several() || run.opened[PoolContainer(p).Lock()] == nil {
			continue
		}
		d := demand{pool: p, lengths: []int{w.bits}}
		for _, t := range run.order {
			for _, g := range t.taken {
				switch {
				case t.pool.UID != p.UID:
				case g.wish.Exact.IsValid():
					d.exact = append(d.exact, g.block)
				default:
					d.lengths = append(d.lengths, g.wish.Bits)
				}
			}
		}
		d.later = run.later(i, p)
		all = append(all, d)
	}
	return all
}

// later is what the items after item i will want of a pool that is the first that they are served from.
func (run *batchRun) later(i int, p ipam.Pool) (wants []laterWant) {
	for j := i + 1; j < len(run.batch.items); j++ {
		c := run.batch.items[j].choice
		if c.first != nil || len(c.room) == 0 || c.room[0].UID != p.UID {
			continue
		}
		if w, err := c.ask.wanted(p); err == nil && !w.exact.IsValid() {
			wants = append(wants, laterWant{item: j, bits: w.bits, only: len(c.pools) == 1})
		}
	}
	return wants
}

// runBatchBorrowing runs a batch until it is bound, or refused at a moment at which no region could have helped: the very blocks are looked for wherever they
// are, and what blocks of any place lack is brought from other regions. It gives up when it comes no further.
func (s *Service) runBatchBorrowing(ctx context.Context, b *batch, byPool map[ipam.ID][]*choice) ([]ipam.Claim, error) {
	furthest := -1
	for tries := 0; tries < maxRounds; tries++ {
		if err := s.gatherAll(ctx, b); err != nil {
			return nil, err
		}
		bound, err := s.runBatch(ctx, b, byPool)
		again := false
		if there, ok := errors.AsType[*notThere](err); ok {
			err = there.refusal
			for _, p := range there.pools {
				free, failed := s.onItsWay(ctx, p, there.block, false)
				again = again || free && failed == nil
			}
		}
		if lack, ok := errors.AsType[*lacking](err); ok && len(lack.demands) > 0 && !b.request.DryRun {
			if lack.item > furthest {
				furthest, tries = lack.item, 0
			}
			again, err = s.bringForBatch(ctx, b, byPool)
		}
		if !again {
			return bound, err
		}
	}
	return nil, contention(nil)
}

// gatherAll places the pools of the items that ask for a very block where that block is.
func (s *Service) gatherAll(ctx context.Context, b *batch) error {
	for _, c := range b.choices() {
		block := c.ask.spec.Exact()
		if block.IsValid() && c.first != nil {
			block = c.first.block(c.ask)
		}
		if !block.IsValid() || !slices.ContainsFunc(c.pools, ipam.Pool.Several) {
			continue
		}
		c.pools = slices.Clone(c.pools)
		for i, p := range c.pools {
			var err error
			if c.pools[i], err = s.gathered(ctx, p, block, b.request.DryRun); err != nil {
				return err
			}
		}
		c.room = c.pools
	}
	return nil
}

// bringForBatch looks, in one transaction, whether a batch has still no room, and whether the regions have it together; if so it brings what is missing. The
// batch is to be run again, or else the error says why it is refused: of that moment this is true in every region.
func (s *Service) bringForBatch(ctx context.Context, b *batch, byPool map[ipam.ID][]*choice) (again bool, err error) {
	short, err := inTx(ctx, s, "region_look", Locks{}, true, func(ctx context.Context, tx Tx) (*demand, error) {
		run := newBatchRun(tx, b, byPool)
		_, _, err := run.plan(ctx)
		lack, ok := errors.AsType[*lacking](err)
		if !ok {
			return nil, err
		}
		for _, d := range lack.demands {
			has, failed := lookFor(ctx, tx, d)
			if l := has.refused; l != nil && len(lack.demands) == 1 && failed == nil {
				return nil, run.lacking(l.item, b.items[l.item].choice, []ipam.Pool{d.pool}, l.bits)
			}
			if failed != nil || has.more() {
				return &d, failed
			}
		}
		return nil, err
	})
	if _, moves := errors.AsType[*notThere](err); moves {
		return true, nil // the next attempt meets it again
	}
	if err == nil && short != nil {
		err = s.bringFor(ctx, *short)
	}
	return err == nil, err
}
