package utilization

import (
	"math/big"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

const day = 24 * time.Hour

// stale is for how long the last record says how it is. There is one a day at least.
const stale = 2 * day

// Point is how much was used at a moment, and the most that was recorded since the point before.
type Point struct {
	At            time.Time
	Used, Highest *big.Int
}

// Runway is when a pool will be full if it fills up as it did.
type Runway struct {
	RunsOutAt     time.Time
	PercentPerDay float64
	Over          time.Duration // by what was recorded for so long
}

// spaced answers n+1 evenly spaced points from one moment to another, each with the last of what was recorded up to it, in order of time. Those are left
// out for which that is unknown or stale.
func spaced(recorded []ipam.UsedAt, since, until time.Time, n int) []Point {
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
		if last.Used == nil || at.Sub(last.At) > stale {
			continue
		}
		if last.Used.Cmp(highest) > 0 {
			highest = last.Used
		}
		points = append(points, Point{At: at, Used: last.Used, Highest: highest})
	}
	return points
}

// looks are the times through which a line is drawn, each with how many parts it is looked at in.
var looks = []struct {
	over  time.Duration
	parts int
}{{14 * day, 56}, {day, 24}}

// straight is how much of the variance of what was recorded a line has to explain. A single step explains 3/4 of it at most, and a wave that comes back to
// where it was 6/π², so that neither is taken for growth.
const straight = 0.8

// bent is how much of it has to be explained for somebody who was told already not to be told that it is over.
const bent = 0.6

// runway draws lines through what was recorded, and answers the one by which a pool of a size runs out first; nil when none says so honestly: half of its time
// is unknown, it does not rise, it explains less than a part of the variance, or the pool lasts for more than a year.
func runway(recorded []ipam.UsedAt, size *big.Int, now time.Time, least float64) (first *Runway) {
	for _, look := range looks {
		points := spaced(recorded, now.Add(-look.over), now, look.parts)
		if len(points) <= look.parts/2 {
			continue
		}
		percentPerDay, fits := line(points, size)
		if percentPerDay <= 0 || fits < least {
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

// line is the line closest to points by the squares of its distances: how many percent it rises each day, and how much of their variance it explains.
func line(points []Point, size *big.Int) (percentPerDay, fits float64) {
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
