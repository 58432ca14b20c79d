package codec

import (
	"math"
	"math/big"
	"time"

	over "github.com/carve-ipam/carve/internal/alloc/utilization"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// PoolUtilizationOf converts a pool's utilization over time into its wire form.
func PoolUtilizationOf(h over.History) gen.PoolUtilization {
	of := func(used *big.Int) float64 { return percent(ipam.Share{Used: used, Of: h.Size}.Hundredths()) }
	shown := gen.PoolUtilization{Points: Each(h.Points, func(p over.Point) gen.UtilizationPoint {
		return gen.UtilizationPoint{At: p.At, Used: p.Used.String(), UsedPercent: of(p.Used), HighestPercent: of(p.Highest)}
	})}
	if r := h.Runway; r != nil {
		shown.Runway = &gen.UtilizationRunway{
			RunsOutAt: r.RunsOutAt.Truncate(time.Second), PercentPerDay: math.Round(100*r.PercentPerDay) / 100, Over: gen.UtilizationRunwayOver("P14D"),
		}
		if r.Over == 24*time.Hour {
			shown.Runway.Over = "P1D"
		}
	}
	return shown
}
