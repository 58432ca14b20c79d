package regions

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// BeginRegions returns the records for regions that a pool begins to serve. No region has a loan yet, so the home region has the whole pool.
func BeginRegions(p ipam.Pool, regions []string) (out []storage.PoolRegionChange) {
	for _, r := range regions {
		out = append(out, storage.PoolRegionChange{PoolID: p.UID, Now: ipam.PoolRegion{
			Region: r, Epoch: ipam.DerivedID(p.Revision, "epoch in "+r), Loan: -1, LoanedAt: p.UpdatedAt,
		}})
	}
	return out
}

// Fenced calls Fence for a transaction that has not read the region's versions. It reads them itself.
func Fenced(ctx context.Context, read storage.Reader, p ipam.Pool) error {
	if !p.MultiRegion() {
		return nil
	}
	record, rows, err := read.StockEpoch(ctx, p.UID, p.Place())
	if err != nil {
		return err
	}
	return Fence(storage.GroupFacts{Pool: p, Fenced: record != rows || record.IsZero()})
}

// FencedHold calls Fenced for an allocation's pool and region.
func FencedHold(ctx context.Context, read storage.Reader, a ipam.Allocation) error {
	p, err := read.PoolGetByID(ctx, a.ContainerID)
	if err != nil {
		return err
	}
	return Fenced(ctx, read, storage.Placed(p, a.Region))
}

// EndRegions returns the changes that delete a pool's records in the regions that it leaves. If such a region has the pool's blocks, EndRegions fails
// with in_use.
func EndRegions(ctx context.Context, tx storage.Tx, p ipam.Pool, regions []string, dryRun bool) (out []storage.PoolRegionChange, err error) {
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
			if inUse && dryRun { // a real request would first recall the free blocks
				held, err := tx.AllocationListInPool(ctx, storage.PoolContainer(storage.Placed(p, r)), p.Block, netip.Addr{}, 1)
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
				out = append(out, storage.PoolRegionChange{PoolID: p.UID, Was: rec.Epoch, Now: rec})
			}
		}
	}
	return out, nil
}

func stillServes(p ipam.Pool, region string) error {
	return ipam.Errorf(ipam.CodeInUse, "Blocks of pool %s are held in region %q; nothing was changed. Release them first.", p.Ref(), region).
		At("/spec/regions", "must include %q while blocks are held there.", region)
}

// OthersOf returns a pool's regions without its home region.
func OthersOf(p ipam.Pool) (others []string) {
	for _, r := range p.Spec.Regions {
		if r != p.Region {
			others = append(others, r)
		}
	}
	return others
}
