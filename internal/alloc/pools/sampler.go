package pools

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/ipam"
)

// samplePools limits the pools in one Sampler step. sampleEvery is the interval between the starts of two passes. A pass over 100,000 pools takes 500
// steps.
const (
	samplePools = 200
	sampleEvery = 10 * time.Second
)

const (
	// smoothing is the time constant for the average rate at which a pool is used up.
	smoothing = 10 * time.Minute
	// trendFactor is the number of pools with a trend for each reported pool. A pool that begins to be reported should already have a trend.
	trendFactor = 4
)

// Sampler reads all pools, one page at a time, and keeps the state of the fullest pools. Create it with NewSampler. Only one goroutine may call Step.
// Any goroutine may call Sample.
type Sampler struct {
	store  SampleStore
	region string
	limit  int
	clock  func() time.Time
	pools  int // the limit for the pools in one step

	pass   *pass // nil between two passes
	begins time.Time
	trends map[ipam.ID]trend // the trends after the last pass

	mu   sync.Mutex
	last Sample
}

// NewSampler creates a sampler that reports up to limit pools. clock is the database's clock, or a test's clock.
func NewSampler(store SampleStore, region string, limit int, clock func() time.Time) *Sampler {
	return &Sampler{store: store, region: region, limit: limit, clock: clock, pools: samplePools}
}

// Sample returns the result from the last complete pass.
func (s *Sampler) Sample() Sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// pass is one scan of all pools.
type pass struct {
	began time.Time
	after ipam.ID // the last pool on the previous page

	fullest []seenPool
	scarce  []seenPool
	fenced  []ipam.Ref
	closed  int64
	count   map[string]int64
}

type seenPool struct {
	id   ipam.ID
	free float64 // the pool's free share
	PoolSample
}

// trend describes how fast a pool is used up.
type trend struct {
	free  float64   // the pool's free share at the measurement
	at    time.Time // the time of the measurement
	rate  float64   // the share that is used up per second; negative if the free share grows
	known bool
}

// SetPageSize limits the pools that one step reads.
func (s *Sampler) SetPageSize(pools int) { s.pools = pools }

// Step reads the next page.
func (s *Sampler) Step(ctx context.Context) error {
	now := s.clock()
	if s.pass == nil {
		if now.Before(s.begins) {
			return nil
		}
		s.begins = now.Add(sampleEvery)
		s.pass = &pass{began: now, count: map[string]int64{under50: 0, under80: 0, under90: 0, under100: 0, fullUp: 0}}
	}
	p := s.pass
	page, err := s.store.PoolStandings(ctx, s.region, p.after, s.pools)
	if err != nil {
		return err
	}
	s.addPage(p, page, now)
	if len(page) == s.pools {
		p.after = page[len(page)-1].ID
		return nil
	}
	s.finish(p, now)
	return nil
}

func (s *Sampler) addPage(p *pass, page []PoolStanding, now time.Time) {
	for _, pool := range page {
		if pool.Fenced {
			p.closed++
			if len(p.fenced) < s.limit {
				p.fenced = append(p.fenced, pool.Pool)
			}
		}
		width := pool.Block.Addr().BitLen()
		free := part(pool.Stock, pool.Block.Bits())
		switch {
		case pool.Home == s.region:
			utilization := min(1, max(0, 1-free))
			p.count[fullness(utilization)]++
			p.fullest = append(p.fullest, seenPool{pool.ID, free, PoolSample{pool.Pool, utilization, -1}})
		case pool.Served != nil && pool.Served.Loan >= 0:
			rec := *pool.Served
			rec.Stock = pool.Stock
			lasts, known := regions.Runway(width, rec, now)
			if !known {
				lasts = -1
			}
			p.scarce = append(p.scarce, seenPool{pool.ID, free, PoolSample{pool.Pool, part(pool.Stock, width-rec.Loan), lasts}})
		}
	}
	slices.SortFunc(p.fullest, func(a, b seenPool) int {
		return cmp.Or(cmp.Compare(a.free, b.free), cmp.Compare(a.Pool.String(), b.Pool.String()))
	})
	slices.SortFunc(p.scarce, func(a, b seenPool) int {
		return cmp.Or(cmp.Compare(a.Ratio, b.Ratio), cmp.Compare(a.Pool.String(), b.Pool.String()))
	})
	p.fullest = p.fullest[:min(len(p.fullest), trendFactor*s.limit)]
	p.scarce = p.scarce[:min(len(p.scarce), s.limit)]
}

// part returns the free space as a fraction of a block with length bits.
func part(s ipam.Stock, bits int) float64 {
	sum := 0.0
	for length, n := range s.Free {
		sum += math.Ldexp(float64(n), bits-length)
	}
	return sum
}

// finish stores a pass's result as the last sample.
func (s *Sampler) finish(p *pass, now time.Time) {
	trends := make(map[ipam.ID]trend, len(p.fullest))
	out := Sample{Fenced: p.fenced, Closed: p.closed, Count: p.count, Ended: now, Took: now.Sub(p.began)}
	for i, pool := range p.fullest {
		was, known := s.trends[pool.id]
		next := trend{free: pool.free, at: now}
		if known {
			next = was.next(pool.free, now)
		}
		trends[pool.id] = next
		if i < s.limit {
			pool.Runway = next.runway()
			out.Fullest = append(out.Fullest, pool.PoolSample)
		}
	}
	for _, pool := range p.scarce {
		out.Scarce = append(out.Scarce, pool.PoolSample)
	}
	s.trends, s.pass = trends, nil
	s.mu.Lock()
	s.last = out
	s.mu.Unlock()
}

// next returns the trend after another measurement.
func (t trend) next(free float64, now time.Time) trend {
	passed := now.Sub(t.at).Seconds()
	if passed <= 0 {
		return t
	}
	rate := (t.free - free) / passed
	if t.known {
		weight := 1 - math.Exp(-passed/smoothing.Seconds())
		rate = t.rate + weight*(rate-t.rate)
	}
	return trend{free: free, at: now, rate: rate, known: true}
}

// runway returns how long the free space will last. The result is negative if the rate is not known, or if the free space does not shrink.
func (t trend) runway() time.Duration {
	if !t.known || t.rate <= 0 {
		return -1
	}
	return time.Duration(min(t.free/t.rate, regions.MaxRunway.Seconds()) * float64(time.Second))
}
