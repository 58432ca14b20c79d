package rivals

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/lab/scale"
)

var few = []compared{
	{name: "claims / rows", of: overHTTP, to: httpInsert, clients: 32, figure: rate, limit: 1.5},
	{name: "p95 of a refusal / of a claim", of: refuse, to: overHTTP, clients: 32, figure: p95, limit: 1, atMost: true},
	{name: "claims / blocks", of: overHTTP, to: lockAndScan, held: 50_000, clients: 1, figure: rate, limit: 100},
	{name: "log", of: overHTTP, clients: 32, figure: logBytes},
}

func TestGoalIsTheMedianOfTheRoundsRatios(t *testing.T) {
	t.Parallel()
	goals := goalsOf(few, []*result{
		{Contestant: httpInsert, Clients: 32, Rate: 1000},
		{Contestant: overHTTP, Clients: 32, Rate: 1400, P95: 10, WAL: 700},
		{Contestant: refuse, Clients: 32, P95: 11},
		{Contestant: httpInsert, Clients: 32, Round: 1, Rate: 500},
		{Contestant: overHTTP, Clients: 32, Round: 1, Rate: 1000, P95: 10, WAL: 800},
		{Contestant: refuse, Clients: 32, Round: 1, P95: 5},
		{Contestant: httpInsert, Clients: 32, Round: 2, Rate: 1000},
		{Contestant: overHTTP, Clients: 32, Round: 2, Rate: 1500, P95: 10, WAL: 750},
		{Contestant: refuse, Clients: 32, Round: 2, P95: 10, Broken: "no answer"},
		{Contestant: overHTTP, Clients: 1, Held: 50_000, Rate: 1000},
		{Contestant: lockAndScan, Clients: 1, Held: 50_000, Skipped: "too slow"},
	})
	require.Equal(t, []goal{
		{Name: "claims / rows, 32 clients", Measured: 1.5, Lowest: 1.4, Highest: 2, Rounds: 3, Limit: 1.5, Reached: true},
		{Name: "p95 of a refusal / of a claim, 32 clients", Measured: 0.8, Lowest: 0.5, Highest: 1.1, Rounds: 2, Limit: 1, AtMost: true, Reached: true},
		{Name: "claims / blocks, 1 client", Limit: 100},
		{Name: "log, 32 clients", Measured: 750, Lowest: 700, Highest: 800, Rounds: 3, Reached: true},
	}, goals)
	require.Equal(t, `
| goal                                      | measured | lowest – highest | goal is |       result |
|-------------------------------------------|---------:|-----------------:|--------:|-------------:|
| claims / rows, 32 clients                 |     1.50 |      1.40 – 2.00 |   ≥ 1.5 |      reached |
| p95 of a refusal / of a claim, 32 clients |     0.80 |      0.50 – 1.10 |     ≤ 1 |      reached |
| claims / blocks, 1 client                 |          |                  |   ≥ 100 | not measured |
| log, 32 clients                           |      750 |        700 – 800 |         |      no goal |
`, goalTable(goals))
}

func TestMissedGoalsAreMarkedAsMissed(t *testing.T) {
	t.Parallel()
	require.False(t, judged("low", 2, false, 1.9).Reached)
	require.False(t, judged("high", 2, true, 2.1).Reached)
	require.False(t, judged("never measured", 2, true).Reached)
	require.Contains(t, goalTable([]goal{judged("low", 2, false, 1.9)}), "| low  |     1.90 |                  |     ≥ 2 | missed |")
}

// If two goals had one name, they could neither be distinguished nor selected.
func TestGoalNamesAreUnique(t *testing.T) {
	t.Parallel()
	for _, wanted := range [][]compared{onPostgreSQL, onCockroachDB} {
		var names []string
		for _, w := range wanted {
			names = append(names, w.title())
		}
		for _, g := range grownGoals("1M") {
			names = append(names, g.name)
		}
		slices.Sort(names)
		require.Len(t, slices.Compact(slices.Clone(names)), len(names))
	}
}

func TestGoalsOfGrowthUseTheMeasuredPoints(t *testing.T) {
	t.Parallel()
	asked := grownGoals("10k")
	var points []scale.Point
	for i, g := range asked {
		points = append(points, scale.Point{Axis: g.axis, Cell: g.cell, Operation: g.operation, P95: float64(i), P99Ratio: float64(i)})
	}
	for i, g := range judgePoints(asked, points) {
		require.InDelta(t, float64(i), g.Measured, 0, g.Name)
		require.Equal(t, 1, g.Rounds)
	}
	require.Zero(t, judgePoints(asked, nil)[0].Rounds)
}
