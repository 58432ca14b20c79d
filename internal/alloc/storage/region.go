package storage

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

// RegionReader reads the data that several regions need (docs/adr/0021).
type RegionReader interface {
	// Regions returns the database's regions, in the order of their addition.
	Regions(ctx context.Context) ([]ipam.Region, error)
	// PoolRegions returns the regions that pools serve, without stocks. It returns nothing for a pool that is served at home alone.
	PoolRegions(ctx context.Context, pools []ipam.ID) (map[ipam.ID][]ipam.PoolRegion, error)
	// PoolsServing returns up to limit pools that a region serves in addition to other regions, ordered by id, after the given id.
	PoolsServing(ctx context.Context, region string, after ipam.ID, limit int) ([]ipam.Pool, error)
	// LoansOver returns up to limit loans from a pool that overlap a block, ordered by address.
	LoansOver(ctx context.Context, poolID ipam.ID, block netip.Prefix, limit int) ([]ipam.Loan, error)
	// LoansTo returns up to limit loans from a pool to a region with blocks after an address, ordered by address.
	LoansTo(ctx context.Context, poolID ipam.ID, region string, after netip.Addr, limit int) ([]ipam.Loan, error)
	// LoanSizes counts the loans of pools by region and length.
	LoanSizes(ctx context.Context, pools []ipam.ID) ([]LoanSize, error)
	// RoomByRegion returns the regions in which one pool's containers have a free block for the prefix length. The reads see one moment.
	RoomByRegion(ctx context.Context, ask []RoomQuery) (map[string]bool, error)
	// StockEpoch returns a pool's two versions in a region: the record's, and the one beside the region's rows. Both are zero if the pool has no rows
	// of its own there.
	StockEpoch(ctx context.Context, poolID ipam.ID, region string) (record, rows ipam.ID, err error)
}

// LoanSize counts the blocks of one length that a pool has lent to a region.
type LoanSize struct {
	PoolID ipam.ID
	Region string
	Bits   int
	Count  int64
}

// RegionChanges contains the changes to pools in several regions.
type RegionChanges struct {
	PoolRegionInsert []PoolRegionChange
	PoolRegionUpdate []PoolRegionChange
	PoolRegionDelete []PoolRegionChange

	LoanInsert []ipam.Loan
	LoanDelete []ipam.Loan

	EpochReset *EpochReset
}

// EpochReset gives both versions of a pool in a region one new value, and recomputes the fence's stock from the rows.
type EpochReset struct {
	PoolID       ipam.ID
	Region       string
	Record, Rows ipam.ID // the old values; Rows is zero if the region's rows had none
	Now          ipam.ID
	Stock        ipam.Stock // after all changes of the transaction
}

// PoolRegionChange inserts, replaces or deletes the record of a pool in a region, together with the version beside the region's rows. Both must still
// have version Was; zero means that they must not exist.
type PoolRegionChange struct {
	PoolID ipam.ID
	Was    ipam.ID
	Now    ipam.PoolRegion
}

// Placed returns the pool as it is drawn from in the given region.
func Placed(p ipam.Pool, region string) ipam.Pool {
	if p.At = ""; region != p.Region {
		p.At = region
	}
	return p
}

// PoolContainers returns a pool's containers in all its regions, its home first.
func PoolContainers(p ipam.Pool) []Container {
	all := []Container{PoolContainer(Placed(p, p.Region))}
	for _, r := range p.Spec.Regions {
		if r != p.Region {
			all = append(all, PoolContainer(Placed(p, r)))
		}
	}
	return all
}

// PoolLocks returns the lock ids of all of a pool's containers.
func PoolLocks(p ipam.Pool) []ipam.ID {
	var ids []ipam.ID
	for _, c := range PoolContainers(p) {
		ids = append(ids, c.Lock())
	}
	return ids
}
