package storage

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

// RegionReader reads what several regions need (docs/adr/0021).
type RegionReader interface {
	// Regions answers the database's regions, in the order in which they were added.
	Regions(ctx context.Context) ([]ipam.Region, error)
	// PoolRegions answers pools in the regions that they serve, without their stocks; nothing of a pool that is served at home alone.
	PoolRegions(ctx context.Context, pools []ipam.ID) (map[ipam.ID][]ipam.PoolRegion, error)
	// PoolsServing answers up to limit pools that are served in a region besides others, with ids after the given one, in order of id.
	PoolsServing(ctx context.Context, region string, after ipam.ID, limit int) ([]ipam.Pool, error)
	// LoansOver answers up to limit loans of a pool that overlap a block, in order of address.
	LoansOver(ctx context.Context, poolID ipam.ID, block netip.Prefix, limit int) ([]ipam.Loan, error)
	// LoansTo answers up to limit loans of a pool to a region with blocks after an address, in order of address.
	LoansTo(ctx context.Context, poolID ipam.ID, region string, after netip.Addr, limit int) ([]ipam.Loan, error)
	// LoanSizes counts the loans of pools by region and length.
	LoanSizes(ctx context.Context, pools []ipam.ID) ([]LoanSize, error)
	// RoomByRegion answers in which regions containers of one pool have a free block that can hold the prefix length, all at one moment.
	RoomByRegion(ctx context.Context, ask []RoomQuery) (map[string]bool, error)
	// StockEpoch answers the epochs of a pool in a region: the record's, and the one beside the region's rows; both zero when the pool
	// has no rows of its own there.
	StockEpoch(ctx context.Context, poolID ipam.ID, region string) (record, rows ipam.ID, err error)
}

// LoanSize is how many blocks of a length a region was lent of a pool.
type LoanSize struct {
	PoolID ipam.ID
	Region string
	Bits   int
	Count  int64
}

// RegionChanges is what a transaction writes of pools in several regions.
type RegionChanges struct {
	PoolRegionInsert []PoolRegionChange
	PoolRegionUpdate []PoolRegionChange
	PoolRegionDelete []PoolRegionChange

	LoanInsert []ipam.Loan
	LoanDelete []ipam.Loan

	EpochReset *EpochReset
}

// EpochReset makes the two epochs of a pool in a region one again, and the stock of its fence what its rows come to.
type EpochReset struct {
	PoolID       ipam.ID
	Region       string
	Record, Rows ipam.ID // as they were; Rows is zero when there was none beside the rows
	Now          ipam.ID
	Stock        ipam.Stock // after all that the transaction changes
}

// PoolRegionChange makes, replaces or deletes the record of a pool in a region together with the epoch beside the region's rows. Both must still have
// the epoch Was; zero: they must not exist.
type PoolRegionChange struct {
	PoolID ipam.ID
	Was    ipam.ID
	Now    ipam.PoolRegion
}

// Placed is a pool as it is drawn from in the region where something of it lives.
func Placed(p ipam.Pool, region string) ipam.Pool {
	if p.At = ""; region != p.Region {
		p.At = region
	}
	return p
}

// PoolContainers is a pool in all the regions that it serves, its home first.
func PoolContainers(p ipam.Pool) []Container {
	all := []Container{PoolContainer(Placed(p, p.Region))}
	for _, r := range p.Spec.Regions {
		if r != p.Region {
			all = append(all, PoolContainer(Placed(p, r)))
		}
	}
	return all
}

// PoolLocks is what stands for all of a pool.
func PoolLocks(p ipam.Pool) []ipam.ID {
	var ids []ipam.ID
	for _, c := range PoolContainers(p) {
		ids = append(ids, c.Lock())
	}
	return ids
}
