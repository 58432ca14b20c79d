package rivals

import (
	"context"
	"slices"

	"github.com/carve-ipam/carve/lab/scale"
)

// A grown goal compares costs for different numbers of held blocks. Its figure is from one point on an axis of lab/scale.
type grown struct {
	name      string
	axis      string
	size      string
	cell      string
	operation string
	figure    func(scale.Point) float64
	limit     float64 // upper limit; 0 means a figure without a goal
}

func p99Ratio(p scale.Point) float64 { return p.P99Ratio }
func pointP95(p scale.Point) float64 { return p.P95 }

// grownGoals lists the goals for one client in process on PostgreSQL. held is the number of held blocks.
func grownGoals(held string) []grown {
	return []grown{
		{"p99 of a claim at 99 % fill, from the front / in an empty pool", "fill", "99", "99 %, from the front", scale.OpClaim, p99Ratio, 1.2},
		{"p99 of a claim at 99 % fill, at random / in an empty pool", "fill", "99", "99 %, at random", scale.OpClaim, p99Ratio, 1.2},
		{"p99 of a claim at " + held + " held / at 0", "held", held, held, scale.OpClaim, p99Ratio, 1.2},
		{"p95 in ms of a page of 100 claims at " + held + " held", "held", held, held, scale.OpList, pointP95, 0},
		{"p95 in ms of a page of 100 claims of a pool at " + held + " held", "held", held, held, scale.OpListInPool, pointP95, 0},
	}
}

// growth measures the selected goals on a private PostgreSQL. There the program can load rows without Carve and count the cost of each statement.
func growth(ctx context.Context, o options) ([]goal, error) {
	asked := slices.DeleteFunc(grownGoals(o.rows), func(g grown) bool { return o.url != "" || !o.only.MatchString(g.name) })
	if len(asked) == 0 {
		return nil, nil
	}
	sizes := map[string][]string{}
	for _, g := range asked {
		sizes[g.axis] = []string{"0", g.size}
	}
	points, err := scale.Points(ctx, o.data, sizes)
	return judgePoints(asked, points), err
}

func judgePoints(asked []grown, points []scale.Point) []goal {
	goals := make([]goal, 0, len(asked))
	for _, g := range asked {
		var measured []float64
		for _, p := range points {
			if p.Axis == g.axis && p.Cell == g.cell && p.Operation == g.operation {
				measured = append(measured, g.figure(p))
			}
		}
		goals = append(goals, judged(g.name, g.limit, true, measured...))
	}
	return goals
}
