package utilization

import (
	"math/big"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

const day = 24 * time.Hour

// maxRecordAge is the age above which a record is too old to show the usage. Every pool has at least one record a day, so maxRecordAge is two days.
const maxRecordAge = 2 * day

// Point is the usage at a moment, with the highest usage since the previous point.
type Point struct {
	At            time.Time
	Used, Highest *big.Int
}

// Runway forecasts when a pool will be full if the trend continues.
type Runway struct {
	RunsOutAt     time.Time
	PercentPerDay float64
	Over          time.Duration // the period of the records
}

// evenPoints returns up to n+1 points between two moments, at equal distances and in time order. Each point has the usage from the last record at or
// before its time. evenPoints omits a point without such a record, or with a record older than maxRecordAge.
func evenPoints(recorded []ipam.UsedAt, since, until time.Time, n int) []Point {
	points, next, before := make([]Point, 0, n+1), 0, since
	var last ipam.UsedAt
	for i := range n + 1 {
		at := until
		if i == 0 {
			at = since
		} else if i < n {
			at = since.Add(time.Duration(float64(until.Sub(since)) * float64(i) / float64(n))).Truncate(time.Second)
		}
		highest := new(big.Int)
		for ; next < len(recorded) && !recorded[next].At.After(at); next++ {
			last = recorded[next]
			if last.At.After(before) && last.Used.Cmp(highest) > 0 {
				highest = last.Used
			}
		}
		before = at
		if last.Used == nil || at.Sub(last.At) > maxRecordAge {
			continue
		}
		if last.Used.Cmp(highest) > 0 {
			highest = last.Used
		}
		points = append(points, Point{At: at, Used: last.Used, Highest: highest})
	}
	return points
}

// fitPeriods lists the periods for which runway fits a line, each with its number of intervals.
var fitPeriods = []struct {
	over  time.Duration
	parts int
}{{14 * day, 56}, {day, 24}}

// growthFit is the share of the variance that a line must explain before the usage counts as growing. Neither a step nor a wave may count as growth.
// A line explains at most 3/4 of a single step's variance. It explains at most 6/π² for a wave that returns to its start.
const growthFit = 0.8

// keepAlertFit is the share that a line must explain to keep an existing alert. It is lower than growthFit, so that an alert does not come and go.
const keepAlertFit = 0.6

// runway forecasts when a pool with the given size will be full. It fits one line to each period's records, and returns the earliest forecast. It
// ignores a line in these cases:
//
//   - half of its points are missing
//   - it does not rise
//   - it explains a smaller share of the variance than minFit
//   - the pool lasts for more than a year
//
// It returns nil if no line remains.
func runway(recorded []ipam.UsedAt, size *big.Int, now time.Time, minFit float64) (first *Runway) {
	for _, look := range fitPeriods {
		points := evenPoints(recorded, now.Add(-look.over), now, look.parts)
		if len(points) <= look.parts/2 {
			continue
		}
		percentPerDay, fits := fitLine(points, size)
		if percentPerDay <= 0 || fits < minFit {
			continue
		}
		days := (100 - percentOf(points[len(points)-1].Used, size)) / percentPerDay
		if days > 365 {
			continue
		}
		r := &Runway{RunsOutAt: now.Add(time.Duration(days * float64(day))), PercentPerDay: percentPerDay, Over: look.over}
		if first == nil || r.RunsOutAt.Before(first.RunsOutAt) {
			first = r
		}
	}
	return first
}

// fitLine fits a line to points by least squares. It returns the rise in percent per day, and the share of the variance that the line explains.
func fitLine(points []Point, size *big.Int) (percentPerDay, fits float64) {
	var t, y, n float64
	xs, ys := make([]float64, len(points)), make([]float64, len(points))
	for i, p := range points {
		xs[i], ys[i] = p.At.Sub(points[0].At).Hours()/24, percentOf(p.Used, size)
		t, y, n = t+xs[i], y+ys[i], n+1
	}
	var tt, ty, yy float64
	for i := range xs {
		dt, dy := xs[i]-t/n, ys[i]-y/n
		tt, ty, yy = tt+dt*dt, ty+dt*dy, yy+dy*dy
	}
	if tt == 0 || yy == 0 {
		return 0, 0
	}
	return ty / tt, ty * ty / (tt * yy)
}

func percentOf(used, size *big.Int) float64 {
	share, _ := new(big.Rat).SetFrac(used, size).Float64()
	return 100 * share
}
