package utilization

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/ipam"
)

var (
	now  = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	size = big.NewInt(1 << 20)
)

// history returns hourly records for some days up to now. share returns the usage for a number of days before now, as a share of the pool.
func history(days float64, share func(ago float64) float64) (recorded []ipam.UsedAt) {
	for ago := days; ago > -0.01; ago -= 1.0 / 24 {
		used := int64(math.Round(share(ago) * (1 << 20)))
		recorded = append(recorded, ipam.UsedAt{At: now.Add(-time.Duration(ago * float64(day))), Used: big.NewInt(used)})
	}
	return recorded
}

func TestLinearGrowthPredictsTheRunway(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		percent, begins := rapid.Float64Range(0.4, 3).Draw(t, "percent a day"), rapid.Float64Range(0, 0.5).Draw(t, "begins")
		r := runway(history(14, func(ago float64) float64 { return begins + (14-ago)*percent/100 }), size, now, growthFit)
		require.NotNil(t, r)
		left := 100 - 100*begins - 14*percent
		require.InEpsilon(t, percent, r.PercentPerDay, 0.05)
		require.InEpsilon(t, left/percent, r.RunsOutAt.Sub(now).Hours()/24, 0.05)
	})
}

func TestRunwayUsesTheEarlierOfTwoLines(t *testing.T) {
	t.Parallel()
	hurries := history(14, func(ago float64) float64 {
		if ago < 1 {
			return 0.3 + (1-ago)*0.2
		}
		return 0.3 - ago/100
	})
	r := runway(hurries, size, now, growthFit)
	require.Equal(t, day, r.Over)
	require.InDelta(t, 20, r.PercentPerDay, 1)
	require.InDelta(t, 2.5, r.RunsOutAt.Sub(now).Hours()/24, 0.2)
	r = runway(history(14, func(ago float64) float64 { return 0.5 - max(ago, 1)/50 }), size, now, growthFit)
	require.Equal(t, 14*day, r.Over, "nothing came for a day")
	r = runway(history(0.6, func(ago float64) float64 { return 0.5 - ago/50 }), size, now, growthFit)
	require.Equal(t, day, r.Over, "that is all there is")
}

// If the usage does not grow along a line, a forecast would be misleading, so runway returns none.
func TestNonlinearUsageHasNoRunway(t *testing.T) {
	t.Parallel()
	for name, recorded := range map[string][]ipam.UsedAt{
		"it stays":                   history(14, func(float64) float64 { return 0.9 }),
		"it is full":                 history(14, func(float64) float64 { return 1 }),
		"it sinks":                   history(14, func(ago float64) float64 { return 0.5 + ago/50 }),
		"it rises too slowly":        history(14, func(ago float64) float64 { return 0.5 - ago/1000 }),
		"it is known for a moment":   history(0, func(float64) float64 { return 0.9 }),
		"it is known for some hours": history(0.4, func(ago float64) float64 { return 0.9 - ago/10 }),
		"a claim, and then nothing":  history(14, func(ago float64) float64 { return 0.5 + math.Copysign(0.2, 7-ago) }),
		"a claim this morning":       history(1, func(ago float64) float64 { return 0.5 + math.Copysign(0.2, 0.4-ago) }),
		"a claim a moment ago":       history(14, func(ago float64) float64 { return 0.5 + math.Copysign(0.2, 0.03-ago) }),
		"a tide of a week":           history(14, func(ago float64) float64 { return 0.5 + 0.3*math.Sin(2*math.Pi*ago/7) }),
	} {
		require.Nil(t, runway(recorded, size, now, growthFit), name)
	}
	for phase := 0.0; phase < 1; phase += 0.05 { // at any time of the day
		require.Nil(t, runway(history(14, func(ago float64) float64 { return 0.5 + 0.3*math.Sin(2*math.Pi*(ago+phase)) }), size, now, growthFit), "a tide of a day")
	}
}

// Each point has the usage in the last record up to its time, and the highest usage since the previous point. Points whose last record is stale are
// left out.
func TestPointsAreEvenlySpacedWithLastAndHighestValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var recorded []ipam.UsedAt
		at := now
		for range rapid.IntRange(0, 50).Draw(t, "records") {
			at = at.Add(time.Duration(rapid.IntRange(1, 80).Draw(t, "hours")) * time.Hour)
			recorded = append(recorded, ipam.UsedAt{At: at, Used: big.NewInt(rapid.Int64Range(0, 9).Draw(t, "used"))})
		}
		since := now.Add(time.Duration(rapid.IntRange(-100, 100).Draw(t, "since")) * time.Hour)
		n := rapid.IntRange(1, 60).Draw(t, "n")
		until := since.Add(time.Duration(n) * time.Duration(rapid.IntRange(1, 50).Draw(t, "step")) * time.Hour)
		step := until.Sub(since) / time.Duration(n)
		points, next := evenPoints(recorded, since, until, n), 0
		for i := range n + 1 {
			at := since.Add(time.Duration(i) * step)
			var last, highest ipam.UsedAt
			for _, r := range recorded {
				if r.At.After(at) {
					break
				}
				last = r
				if i > 0 && r.At.After(at.Add(-step)) && (highest.Used == nil || r.Used.Cmp(highest.Used) > 0) {
					highest = r
				}
			}
			if last.Used == nil || at.Sub(last.At) > maxRecordAge {
				continue
			}
			if highest.Used == nil {
				highest = last
			}
			require.Less(t, next, len(points))
			require.Equal(t, at, points[next].At)
			require.Equal(t, []string{last.Used.String(), highest.Used.String()}, []string{points[next].Used.String(), points[next].Highest.String()})
			next++
		}
		require.Len(t, points, next)
	})
}
