package app

import (
	"context"
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/pools"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/telemetry"
)

// sampling returns the job that samples pools for the metrics. It returns false if the metrics are off or show no pools.
func (a *App) sampling(c Config) (job, bool, error) {
	if c.MetricsPools == 0 || !a.metrics.Measures() {
		return job{}, false, nil
	}
	sampler := pools.NewSampler(a.store.Samples(), c.Region, c.MetricsPools, a.store.Now)
	err := a.metrics.WatchPools(c.Region, func() telemetry.Pools { return poolsOf(sampler.Sample()) })
	var fenced []ipam.Ref
	return job{"sample_pools", "cannot sample pools", time.Second, func(ctx context.Context) (done int64, err error) {
		err = sampler.Step(ctx)
		now := sampler.Sample()
		for _, p := range now.Fenced {
			if !slices.Contains(fenced, p) {
				done++ // counted as work, so that this run's trace is kept
				a.Log.WarnContext(ctx, "a pool cannot be used in this region: its data here and its loan records come from different backups; see `ipamctl region reconcile`",
					"pool", p.String(), "region", c.Region)
			}
		}
		fenced = now.Fenced
		return done, err
	}}, true, err
}

// poolsOf converts a sample for the metrics.
func poolsOf(s pools.Sample) telemetry.Pools {
	figures := func(of []pools.PoolSample) []telemetry.PoolFigures {
		out := make([]telemetry.PoolFigures, len(of))
		for i, p := range of {
			out[i] = telemetry.PoolFigures(p)
		}
		return out
	}
	return telemetry.Pools{
		Fullest: figures(s.Fullest), Scarce: figures(s.Scarce), Fenced: s.Fenced, Count: s.Count, Closed: s.Closed, Ended: s.Ended, Took: s.Took,
	}
}

// observedJobs returns all jobs, including the one that samples pools, and registers their metrics.
func (a *App) observedJobs(c Config) ([]job, error) {
	jobs := a.jobs(c)
	sample, wanted, err := a.sampling(c)
	if err != nil {
		return nil, err
	}
	if wanted {
		jobs = append(jobs, sample)
	}
	every := map[string]time.Duration{}
	for _, j := range jobs {
		every[j.name] = j.every
	}
	a.ran, err = a.metrics.WatchJobs(every, time.Now())
	return jobs, err
}
