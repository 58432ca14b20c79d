package pools

import (
	"context"
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// SampleStore reads the pools for a Sampler.
type SampleStore interface {
	// PoolStandings returns up to limit pools from all regions after the given id, in id order. Each pool has its state in the given region.
	PoolStandings(ctx context.Context, region string, after ipam.ID, limit int) ([]PoolStanding, error)
}

// PoolStanding is a pool's state in a region.
type PoolStanding struct {
	ID     ipam.ID
	Pool   ipam.Ref
	Home   string
	Block  netip.Prefix
	Served *ipam.PoolRegion // the pool's loan record for the region; nil if the pool does not serve several regions, or does not serve this one
	Fenced bool             // the region's rows and the loan record have different versions, so the region must not use the pool
	Stock  ipam.Stock       // the number of free and cooling blocks in the region, by length
}

// Sample is the state of a region's pools after the last complete pass over all pools.
type Sample struct {
	Fullest []PoolSample     // the fullest pools with their home in the region; Ratio is the share of their addresses that is not free in the region
	Scarce  []PoolSample     // the pools with another home region and the least free space here; Ratio is the free space relative to the last loan
	Fenced  []ipam.Ref       // the first pools that the region must not use
	Closed  int64            // the number of pools that the region must not use
	Count   map[string]int64 // the number of pools with their home in the region, by fullness; nil if there is no sample yet
	Ended   time.Time
	Took    time.Duration
}

// PoolSample is a measurement for one pool.
type PoolSample struct {
	Pool   ipam.Ref
	Ratio  float64
	Runway time.Duration // negative: not known, or the free space does not shrink
}

// These are the fullness classes, for metrics that do not name pools.
const (
	under50  = "under_50"
	under80  = "under_80"
	under90  = "under_90"
	under100 = "under_100"
	fullUp   = "full"
)

// fullness returns the class for a pool's share that is not free.
func fullness(utilization float64) string {
	switch {
	case utilization < 0.5:
		return under50
	case utilization < 0.8:
		return under80
	case utilization < 0.9:
		return under90
	case utilization < 1:
		return under100
	default:
		return fullUp
	}
}
