package app

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/pools"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/telemetry"
)

// largestSample is the largest number of pools that the metrics may name. It is limited because each pool has several series on every server.
const largestSample = 1000

func (c Config) checkSample() error {
	if c.MetricsPools < 0 || c.MetricsPools > largestSample {
		return fmt.Errorf("--metrics-pools %d is not between 0 (none) and %d", c.MetricsPools, largestSample)
	}
	return nil
}

// sampling returns the job that samples pools for the metrics. It returns false if the metrics are off or show no pools.
func (a *App) sampling(c Config) (job, bool, error) {
	if c.MetricsPools == 0 || !a.metrics.Measures() {
		return job{}, false, nil
	}
	sampler := pools.NewSampler(a.store.Samples(), c.Region, c.MetricsPools, a.store.Now)
	err := a.metrics.WatchPools(func() telemetry.Pools { return poolsOf(sampler.Sample(), c.Region) })
	var fenced []ipam.Ref
	return job{"sample_pools", "cannot sample pools", time.Second, func(ctx context.Context) (done int64, err error) {
		err = sampler.Step(ctx)
		now := sampler.Sample()
		for _, p := range now.Fenced {
			if !slices.Contains(fenced, p) {
				done++ // counted as work, so that the trace of this run is kept
				a.Log.WarnContext(ctx, "a pool cannot be used in this region: its data here and its loan records come from different backups; see `ipamctl region reconcile`",
					"pool", p.String(), "region", c.Region)
			}
		}
		fenced = now.Fenced
		return done, err
	}}, true, err
}

// poolsOf converts a sample for the metrics.
func poolsOf(s pools.Sample, region string) telemetry.Pools {
	name := func(p ipam.Ref) telemetry.PoolName {
		return telemetry.PoolName{Project: p.Project, Pool: p.Name, Region: region}
	}
	figures := func(of []pools.PoolSample) []telemetry.PoolFigures {
		out := make([]telemetry.PoolFigures, len(of))
		for i, p := range of {
			out[i] = telemetry.PoolFigures{PoolName: name(p.Pool), Ratio: p.Ratio, Runway: p.Runway}
		}
		return out
	}
	out := telemetry.Pools{Fullest: figures(s.Fullest), Scarce: figures(s.Scarce), Count: s.Count, Ended: s.Ended, Took: s.Took}
	for _, p := range s.Fenced {
		out.Fenced = append(out.Fenced, name(p))
	}
	if !s.Ended.IsZero() {
		out.Closed = map[string]int64{region: s.Closed}
	}
	return out
}

// watchJobs registers the metrics of the jobs.
func (a *App) watchJobs(jobs []job) error {
	known := make([]telemetry.Job, len(jobs))
	for i, j := range jobs {
		known[i] = telemetry.Job{Name: j.name, Every: j.every}
	}
	watched, err := a.metrics.WatchJobs(known, time.Now())
	a.ran = watched
	return err
}

// observedJobs returns all jobs, including the sampling of pools, and registers the metrics of the jobs.
func (a *App) observedJobs(c Config, service *alloc.Service) ([]job, error) {
	jobs := a.jobs(c, service)
	sample, wanted, err := a.sampling(c)
	if err != nil {
		return nil, err
	}
	if wanted {
		jobs = append(jobs, sample)
	}
	return jobs, a.watchJobs(jobs)
}
