package storage

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

// RegionReader reads the data that several regions share (docs/adr/0021).
type RegionReader interface {
	// Regions returns the database's regions, in the order of their addition.
	Regions(ctx context.Context) ([]ipam.Region, error)
	// PoolRegions returns the regions that each pool serves, without figures about free space. It returns nothing for a pool that serves only its home
	// region.
	PoolRegions(ctx context.Context, pools []ipam.ID) (map[ipam.ID][]ipam.PoolRegion, error)
	// PoolsServing returns up to limit pools that serve this region and other regions, in id order, after the given id.
	PoolsServing(ctx context.Context, region string, after ipam.ID, limit int) ([]ipam.Pool, error)
	// LoansOver returns up to limit loans from a pool that overlap a block, in address order.
	LoansOver(ctx context.Context, poolID ipam.ID, block netip.Prefix, limit int) ([]ipam.Loan, error)
	// LoansTo returns up to limit loans from a pool to a region, in address order. The blocks begin after the given address.
	LoansTo(ctx context.Context, poolID ipam.ID, region string, after netip.Addr, limit int) ([]ipam.Loan, error)
	// LoanSizes counts the pools' loans by region and length.
	LoanSizes(ctx context.Context, pools []ipam.ID) ([]LoanSize, error)
	// RoomByRegion returns the regions in which one pool's containers have a free block for the prefix length. All reads see the same moment.
	RoomByRegion(ctx context.Context, ask []RoomQuery) (map[string]bool, error)
	// StockEpoch returns a pool's two versions in a region: the version in the loan record, and the version that is stored with the region's rows. If
	// the pool has no rows in that region, both versions are zero.
	StockEpoch(ctx context.Context, poolID ipam.ID, region string) (record, rows ipam.ID, err error)
}

// LoanSize counts the blocks with one length that a pool has lent to a region.
type LoanSize struct {
	PoolID ipam.ID
	Region string
	Bits   int
	Count  int64
}

// RegionChanges contains the changes to pools that serve several regions.
type RegionChanges struct {
	PoolRegionInsert []PoolRegionChange
	PoolRegionUpdate []PoolRegionChange
	PoolRegionDelete []PoolRegionChange

	LoanInsert []ipam.Loan
	LoanDelete []ipam.Loan

	EpochReset *EpochReset
}

// EpochReset replaces both versions for a pool in a region with one new value. It also counts the free blocks in the rows again, and writes the
// figures to the version row.
type EpochReset struct {
	PoolID       ipam.ID
	Region       string
	Record, Rows ipam.ID // the old values; Rows is zero if the region's rows had no version
	Now          ipam.ID
	Stock        ipam.Stock // after all the transaction's changes
}

// PoolRegionChange inserts, replaces or deletes a pool's record in a region, and the version that is stored with the region's rows. Both must still
// have version Was. If Was is zero, they must not exist.
type PoolRegionChange struct {
	PoolID ipam.ID
	Was    ipam.ID
	Now    ipam.PoolRegion
}

// Placed returns the pool as it is used in the given region.
func Placed(p ipam.Pool, region string) ipam.Pool {
	if p.UsedIn = ""; region != p.Region {
		p.UsedIn = region
	}
	return p
}

// PoolContainers returns a pool's containers in all its regions. The home region comes first.
func PoolContainers(p ipam.Pool) []Container {
	all := []Container{PoolContainer(Placed(p, p.Region))}
	for _, r := range p.Spec.Regions {
		if r != p.Region {
			all = append(all, PoolContainer(Placed(p, r)))
		}
	}
	return all
}

// PoolLocks returns the lock ids for all the pool's containers.
func PoolLocks(p ipam.Pool) []ipam.ID {
	var ids []ipam.ID
	for _, c := range PoolContainers(p) {
		ids = append(ids, c.Lock())
	}
	return ids
}
