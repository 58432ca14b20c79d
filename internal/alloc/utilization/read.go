package utilization

import (
	"cmp"
	"context"
	"math/big"
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// Utilization contains the use cases for the usage of pools over time.
type Utilization struct {
	*usecase.Core
	interval time.Duration
}

// New makes the use cases. interval is the time between two records. If it is 0, New uses DefaultEvery.
func New(core *usecase.Core, interval time.Duration) *Utilization {
	return &Utilization{core, cmp.Or(interval, DefaultEvery)}
}

// defaultPeriod is the default period for a history.
const defaultPeriod = 30 * day

// Query selects a part of a history.
type Query struct {
	Since, Until time.Time // defaults: Until now, Since 30 days before Until
	Points       int       // maximum number
}

// History is a pool's usage over time.
type History struct {
	Size   *big.Int // the pool's size
	Points []Point
	Runway *Runway // nil: no forecast
}

// GetPoolUtilization returns the usage of a project's pool over time. It reads the current usage in all the pool's regions at the same moment.
func (s *Utilization) GetPoolUtilization(ctx context.Context, project, name string, a Query, r usecase.Reading) (History, error) {
	_, key, err := s.Enter(ctx, tenancy.PoolsRead, project)
	if err != nil {
		return History{}, err
	}
	now, read := s.Now(), s.View(r)
	past := !a.Until.IsZero() && a.Until.Before(now)
	if !past {
		a.Until = now
	}
	if a.Since.IsZero() {
		a.Since = a.Until.Add(-defaultPeriod)
	}
	if !a.Since.Before(a.Until) {
		return History{}, ipam.Invalid("query:since", "must be in the past, and earlier than query:until. Send an earlier time, or leave it out to get 30 days.")
	}
	pool, err := read.PoolGet(ctx, key, name)
	if err == nil {
		pool, err = storage.WithStock(ctx, read, pool)
	}
	if err != nil {
		return History{}, err
	}
	all, err := read.UtilizationOf(ctx, []ipam.Pool{pool}, time.Time{})
	if err != nil {
		return History{}, err
	}
	tenancy.BudgetOf(ctx).Add(tenancy.Work{Rows: len(all[pool.UID])})
	share := ipam.PoolShare(pool)
	recorded := withCurrent(all[pool.UID], now, share.Used)
	h := History{Size: share.Of, Points: s.points(recorded, a)}
	if !past {
		h.Runway = runway(recorded, share.Of, now, growthFit)
	}
	return h, nil
}

// Standings returns the usage of some pools, and forecasts how long each has free space. The caller must have read each pool's Stock, which counts
// its blocks.
func Standings(ctx context.Context, read storage.Reader, pools []ipam.Pool, now time.Time) (map[ipam.ID]ipam.Standing, error) {
	all, err := read.UtilizationOf(ctx, pools, now.Add(-fitPeriods[0].over-maxRecordAge))
	if err != nil {
		return nil, err
	}
	standings := make(map[ipam.ID]ipam.Standing, len(pools))
	for _, p := range pools {
		share := ipam.PoolShare(p)
		recorded := withCurrent(all[p.UID], now, share.Used)
		lasts := func(fits float64) *time.Duration {
			if r := runway(recorded, share.Of, now, fits); r != nil {
				return new(r.RunsOutAt.Sub(now))
			}
			return nil
		}
		standings[p.UID] = ipam.Standing{Share: share, Forecast: lasts(growthFit), LooseForecast: lasts(keepAlertFit)}
	}
	return standings, nil
}

// withCurrent appends the current usage to the records. It drops records with a future time, which exist if the clock was set back.
func withCurrent(recorded []ipam.UsedAt, now time.Time, used *big.Int) []ipam.UsedAt {
	recorded = slices.DeleteFunc(recorded, func(u ipam.UsedAt) bool { return !u.At.Before(now) })
	return append(recorded, ipam.UsedAt{At: now, Used: used})
}

// points returns the requested points. It returns no point before the first record.
func (s *Utilization) points(recorded []ipam.UsedAt, a Query) []Point {
	if first := recorded[0].At; first.After(a.Since) {
		a.Since = first
	}
	if a.Since.After(a.Until) {
		return nil
	}
	parts := int((a.Until.Sub(a.Since) + s.interval - 1) / s.interval)
	return evenPoints(recorded, a.Since, a.Until, min(parts, a.Points-1))
}
