package pools

import (
	"context"
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// SampleStore reads the pools for a Sampler.
type SampleStore interface {
	// PoolStandings returns up to limit pools in all regions with ids after the given one, by id, with their state in a region.
	PoolStandings(ctx context.Context, region string, after ipam.ID, limit int) ([]PoolStanding, error)
}

// PoolStanding is a pool's state in a region.
type PoolStanding struct {
	ID     ipam.ID
	Pool   ipam.Ref
	Home   string
	Block  netip.Prefix
	Served *ipam.PoolRegion // the record of its loans to the region; nil: the pool does not serve several regions, or not this one
	Fenced bool             // the region's rows and that record have different versions
	Stock  ipam.Stock       // in the region
}

// Sample is the state of a region's pools in the last complete pass.
type Sample struct {
	Fullest []PoolSample     // at home in the region: the share of their addresses that is not free there
	Scarce  []PoolSample     // at home elsewhere: the addresses free here as a fraction of the last loan; least first
	Fenced  []ipam.Ref       // the first pools that cannot be used in the region
	Closed  int64            // how many pools cannot be used in the region
	Count   map[string]int64 // pools at home, by fullness; nil: no sample yet
	Ended   time.Time
	Took    time.Duration
}

// PoolSample is a measurement for one pool.
type PoolSample struct {
	Pool   ipam.Ref
	Ratio  float64
	Runway time.Duration // negative: not known, or the free space does not shrink
}

// The fullness classes, for metrics that do not name pools.
const (
	under50  = "under_50"
	under80  = "under_80"
	under90  = "under_90"
	under100 = "under_100"
	fullUp   = "full"
)

// fullness returns the class for the share of a pool that is not free.
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
