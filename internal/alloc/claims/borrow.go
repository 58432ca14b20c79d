package claims

import (
	"context"
	"errors"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/refusals"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// batchBorrower finds blocks in other regions for batches. It finds an exact CIDR in any region, and it borrows missing blocks if their position does
// not matter.
type batchBorrower struct {
	*usecase.Core

	regions *regions.Regions
}

// inTransitError is the refusal for a batch with an exact CIDR that is not free in its presumed region. Regions lend blocks to each other, so the
// block may be on its way between two regions.
type inTransitError struct {
	block   netip.Prefix
	pools   []ipam.Pool
	refusal error // the error to return if the block is held
}

// Error implements error.
func (*inTransitError) Error() string { return "the exact block is not free there" }

// refuseUnlessInTransit returns an inTransitError if an exact CIDR may be on its way between regions. Otherwise it returns the refusal. If the batch
// itself has taken a part of the block, the block cannot be on its way.
func (a *attempt) refuseUnlessInTransit(refusal error, pools []ipam.Pool, block netip.Prefix) error {
	err := &inTransitError{block: block, refusal: refusal}
	for _, p := range pools {
		if p.MultiRegion() && !a.holds(p.UID, block) {
			err.pools = append(err.pools, p)
		}
	}
	if a.batch.dryRun() || len(err.pools) == 0 {
		return refusal
	}
	return err
}

// holds reports whether the batch has taken a part of the block from the pool in any region.
func (a *attempt) holds(pool ipam.ID, block netip.Prefix) bool {
	return slices.ContainsFunc(a.drawn, func(src *openPool) bool {
		return src.pool.UID == pool && slices.ContainsFunc(src.taken, func(g grantedBlock) bool { return freespace.Overlaps(g.block, block) })
	})
}

// locateExact makes each exact CIDR available in one region. It recalls the CIDR's lent parts to the home region. Then it sets the region for the
// orders' pools to the region that holds the CIDR.
func (s batchBorrower) locateExact(ctx context.Context, b *batch) error {
	for _, c := range b.choices {
		block := c.Ask.Spec.Exact()
		if block.IsValid() && c.First != nil {
			block = c.First.Block(c.Ask)
		}
		if !block.IsValid() || !slices.ContainsFunc(c.Pools, ipam.Pool.MultiRegion) {
			continue
		}
		c.Pools = slices.Clone(c.Pools)
		for i, p := range c.Pools {
			var err error
			if c.Pools[i], err = s.regions.LocateExact(ctx, p, block, b.dryRun()); err != nil {
				return err
			}
		}
		c.candidates = c.Pools
	}
	return nil
}

// borrowMissing tries to resolve a batch's refusal with blocks from other regions. again means that the batch must run again. Otherwise the error is
// the refusal, and no region could have served the batch at that moment.
func (s batchBorrower) borrowMissing(ctx context.Context, b *batch, refused error) (again bool, err error) {
	if there, ok := errors.AsType[*inTransitError](refused); ok {
		for _, p := range there.pools {
			free, failed := s.regions.InTransit(ctx, p, there.block, false)
			again = again || free && failed == nil
		}
		if again {
			return true, nil
		}
		return false, there.refusal
	}
	if lack, ok := errors.AsType[*refusals.Lacking](refused); ok && len(lack.Demands) > 0 && !b.dryRun() {
		return s.moveMissing(ctx, b)
	}
	return false, refused
}

// moveMissing checks in one transaction whether the batch still has no room, and whether all regions together have the missing blocks. If they have
// the blocks, moveMissing moves these blocks to this region. again means that the batch must run again. Otherwise the error is the refusal, which is
// true in every region at that moment.
func (s batchBorrower) moveMissing(ctx context.Context, b *batch) (again bool, err error) {
	short, err := usecase.InTx(ctx, s.Core, "region_look", storage.Locks{}, true, func(ctx context.Context, tx storage.Tx) (*regions.Demand, error) {
		a := newAttempt(tx, b, s.Region)
		a.readAll = true // only all free rows together show the missing blocks
		err := a.serveAll(ctx)
		lack, ok := errors.AsType[*refusals.Lacking](err)
		if !ok {
			return nil, err
		}
		for _, d := range lack.Demands {
			has, failed := regions.ReadSupply(ctx, tx, d)
			if l := has.Refused; l != nil && len(lack.Demands) == 1 && failed == nil {
				return nil, a.lacking(l.Item, []ipam.Pool{d.Pool}, l.Bits)
			}
			if failed != nil || has.CanGrow() {
				return &d, failed
			}
		}
		return nil, err
	})
	if _, moves := errors.AsType[*inTransitError](err); moves {
		return true, nil // the next attempt finds the same error and handles it
	}
	if err == nil && short != nil {
		err = s.regions.SupplyDemand(ctx, *short)
	}
	return err == nil, err
}
