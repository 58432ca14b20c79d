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

// Utilization is the use cases on how much of pools was used over time.
type Utilization struct {
	*usecase.Core
	every time.Duration
}

// New makes the room; every is how often it is recorded how much of a pool is used, 0 for DefaultEvery.
func New(core *usecase.Core, every time.Duration) *Utilization {
	return &Utilization{core, cmp.Or(every, DefaultEvery)}
}

// shown is for how long before its end a history is shown when nobody says from when on.
const shown = 30 * day

// Asked is what part of a history is asked for.
type Asked struct {
	Since, Until time.Time // zero: a month before the end; now
	Points       int       // at most
}

// History is how much of a pool was used over time.
type History struct {
	Size   *big.Int // of the pool
	Points []Point
	Runway *Runway // nil: it is not known
}

// GetPoolUtilization shows how much of a project's pool was used over time. What is used now is read at the same moment in all regions of the pool.
func (s *Utilization) GetPoolUtilization(ctx context.Context, project, name string, a Asked, r usecase.Reading) (History, error) {
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
		a.Since = a.Until.Add(-shown)
	}
	if !a.Since.Before(a.Until) {
		return History{}, ipam.Invalid("query:since", "must be before until, and in the past.")
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
	recorded := upTo(all[pool.UID], now, share.Used)
	h := History{Size: share.Of, Points: s.between(recorded, a)}
	if !past {
		h.Runway = runway(recorded, share.Of, now, straight)
	}
	return h, nil
}

// Standings answers how it stands with some pools, whose stock was read, and for how long what is free of them lasts.
func Standings(ctx context.Context, read storage.Reader, pools []ipam.Pool, now time.Time) (map[ipam.ID]ipam.Standing, error) {
	all, err := read.UtilizationOf(ctx, pools, now.Add(-looks[0].over-stale))
	if err != nil {
		return nil, err
	}
	standings := make(map[ipam.ID]ipam.Standing, len(pools))
	for _, p := range pools {
		share := ipam.PoolShare(p)
		recorded := upTo(all[p.UID], now, share.Used)
		lasts := func(fits float64) *time.Duration {
			if r := runway(recorded, share.Of, now, fits); r != nil {
				return new(r.RunsOutAt.Sub(now))
			}
			return nil
		}
		standings[p.UID] = ipam.Standing{Share: share, Lasts: lasts(straight), Perhaps: lasts(bent)}
	}
	return standings, nil
}

// upTo adds what is used now, and leaves out what was recorded after it, before the clock was set back.
func upTo(recorded []ipam.UsedAt, now time.Time, used *big.Int) []ipam.UsedAt {
	recorded = slices.DeleteFunc(recorded, func(u ipam.UsedAt) bool { return !u.At.Before(now) })
	return append(recorded, ipam.UsedAt{At: now, Used: used})
}

// between answers the points that are asked for, from the first record on.
func (s *Utilization) between(recorded []ipam.UsedAt, a Asked) []Point {
	if first := recorded[0].At; first.After(a.Since) {
		a.Since = first
	}
	if a.Since.After(a.Until) {
		return nil
	}
	parts := int((a.Until.Sub(a.Since) + s.every - 1) / s.every)
	return spaced(recorded, a.Since, a.Until, min(parts, a.Points-1))
}
