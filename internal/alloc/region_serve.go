package alloc

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

// beginRegions is the records of a pool in regions that begin to serve it: with nothing, but for its home, which has all.
func beginRegions(p ipam.Pool, regions []string) (out []PoolRegionChange) {
	for _, r := range regions {
		out = append(out, PoolRegionChange{PoolID: p.UID, Now: ipam.PoolRegion{
			Region: r, Epoch: ipam.DerivedID(p.Revision, "epoch in "+r), Loan: -1, LoanedAt: p.UpdatedAt,
		}})
	}
	return out
}

// fenced is fence for a transaction that has not read the epochs of the region with the rest.
func fenced(ctx context.Context, read Reader, p ipam.Pool) error {
	if !p.Several() {
		return nil
	}
	record, rows, err := read.StockEpoch(ctx, p.UID, p.Place())
	if err != nil {
		return err
	}
	return fence(GroupFacts{Pool: p, Fenced: record != rows || record.IsZero()})
}

// fencedHold is fenced for the pool and region that an allocation is held in.
func fencedHold(ctx context.Context, read Reader, a ipam.Allocation) error {
	p, err := read.PoolGetByID(ctx, a.ContainerID)
	if err != nil {
		return err
	}
	return fenced(ctx, read, placed(p, a.Region))
}

// endRegions is the end of a pool's records in regions that it is not to serve any more; in_use while one of them has blocks of it.
func endRegions(ctx context.Context, tx Tx, p ipam.Pool, regions []string, dryRun bool) (out []PoolRegionChange, err error) {
	if len(regions) == 0 {
		return nil, nil
	}
	records, err := tx.PoolRegions(ctx, []ipam.ID{p.UID})
	if err != nil {
		return nil, err
	}
	for _, r := range regions {
		if r != p.Region {
			loans, err := tx.LoansTo(ctx, p.UID, r, netip.Addr{}, 1)
			if err != nil {
				return nil, err
			}
			inUse := len(loans) > 0
			if inUse && dryRun { // what is free would have been brought home first
				held, err := tx.AllocationListInPool(ctx, PoolContainer(placed(p, r)), p.Block, netip.Addr{}, 1)
				if err != nil {
					return nil, err
				}
				inUse = len(held) > 0
			}
			if inUse {
				return nil, stillServes(p, r)
			}
		}
		for _, rec := range records[p.UID] {
			if rec.Region == r {
				out = append(out, PoolRegionChange{PoolID: p.UID, Was: rec.Epoch, Now: rec})
			}
		}
	}
	return out, nil
}

func stillServes(p ipam.Pool, region string) error {
	return ipam.Errorf(ipam.CodeInUse, "Blocks of pool %s are held in region %q; nothing was changed. Release them first.", p.Ref(), region).
		At("/spec/regions", "must include %q while blocks are held there.", region)
}

// othersOf is the regions that a pool serves besides its home.
func othersOf(p ipam.Pool) (others []string) {
	for _, r := range p.Spec.Regions {
		if r != p.Region {
			others = append(others, r)
		}
	}
	return others
}

// deleteServed deletes a pool that serves several regions: all that is free in them is brought home first.
func (s *Service) deleteServed(ctx context.Context, key ProjectKey, p ipam.Pool, r Request, event ipam.Event) error {
	for round := range maxRounds {
		if round > 0 { // it may serve other regions by now
			now, err := s.store.PoolGet(ctx, key, p.Name)
			if err == nil {
				err = moved(p.UID, now.UID)
			}
			if err != nil {
				return err
			}
			p = now
		}
		held, err := s.heldIn(ctx, poolContainers(p)[1:])
		switch {
		case err != nil:
			return err
		case held != (Held{}):
			if err := r.IfMatch.Check(p.Revision); err != nil {
				return err
			}
			return s.inUse(ctx, p, ipam.Errorf(ipam.CodeInUse, "Pool %s still holds blocks.", p.Ref()))
		case r.DryRun:
			if held, err = s.heldIn(ctx, poolContainers(p)[:1]); err == nil && held != (Held{Reservations: held.Reservations}) {
				err = s.inUse(ctx, p, ipam.Errorf(ipam.CodeInUse, "Pool %s still holds blocks.", p.Ref()))
			}
			if err == nil {
				err = r.IfMatch.Check(p.Revision)
			}
			return err
		}
		if err := s.bringHome(ctx, p, othersOf(p)...); err != nil {
			return err
		}
		err = s.deletePool(ctx, key, p, r, event)
		if !ipam.IsCode(err, ipam.CodeInUse) {
			return err
		}
		loans, again := s.store.LoansOver(ctx, p.UID, p.Block, 1)
		if again != nil || len(loans) == 0 {
			return err // of what is held at home
		}
	}
	return contention(nil)
}
