package pools

import (
	"context"
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// SampleStore reads what a Sampler looks at.
type SampleStore interface {
	// PoolStandings answers up to limit pools of all regions with ids after the given one, in order of id, as they stand in a region.
	PoolStandings(ctx context.Context, region string, after ipam.ID, limit int) ([]PoolStanding, error)
}

// PoolStanding is a pool as it stands in a region.
type PoolStanding struct {
	ID     ipam.ID
	Pool   ipam.Ref
	Home   string
	Block  netip.Prefix
	Served *ipam.PoolRegion // the record of its loans to the region; nil: it is not one of several that the pool serves
	Fenced bool             // the region's rows are of another time than that record
	Stock  ipam.Stock       // there
}

// Sample is how the pools of a region stood when they were last all looked at.
type Sample struct {
	Fullest []PoolSample     // at home in the region: the share of their addresses that is not free there
	Scarce  []PoolSample     // at home elsewhere: what is free here of them, as a part of the last loan; least first
	Fenced  []ipam.Ref       // the first of those that cannot be used in the region
	Closed  int64            // how many those are
	Count   map[string]int64 // pools at home, by Fullness; nil: there was no sample yet
	Ended   time.Time
	Took    time.Duration
}

// PoolSample is a figure of a pool.
type PoolSample struct {
	Pool   ipam.Ref
	Ratio  float64
	Runway time.Duration // negative: not known, or what is free does not become less
}

// The ways to tell how full pools are, without a name.
const (
	under50  = "under_50"
	under80  = "under_80"
	under90  = "under_90"
	under100 = "under_100"
	fullUp   = "full"
)

// fullness of a pool of which a share is not free.
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
