package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/carve-ipam/carve/lab/tool"
)

// Suite runs many plans.
type Suite struct {
	Programs Binaries
	URL      string   // URL of an external CockroachDB; if empty, the suite starts a PostgreSQL
	Environ  []string // additional environment of the servers
	Workers  int      // concurrent runs, each with its own database server
	Dir      string   // directory for the logs of failed runs; created on demand
	Enough   int      // stop after this many failed runs; 0: never
	Each     func(Result)
}

// Job selects one run.
type Job struct {
	Mix  Mix
	Seed uint64
}

// Run performs the runs and returns their results.
func (s Suite) Run(ctx context.Context, jobs []Job) ([]Result, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	base, err := tool.TempDir("carve-chaos-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(base) }()
	queue := make(chan Job)
	var (
		mu      sync.Mutex
		results []Result
		failed  int
		errs    error
		wg      sync.WaitGroup
	)
	done := func(r Result) {
		mu.Lock()
		defer mu.Unlock()
		results = append(results, r)
		if s.Each != nil {
			s.Each(r)
		}
		if len(r.Violations) > 0 || r.Err != nil {
			if failed++; failed == s.Enough {
				stop()
			}
		}
	}
	for w := range s.Workers {
		wg.Go(func() {
			c, err := startCluster(ctx, s.URL, filepath.Join(base, fmt.Sprintf("db%d", w)), s.Programs)
			if err == nil {
				for job := range queue {
					r := perform(ctx, c, NewPlan(job.Mix, job.Seed), s.Environ, s.dir(job))
					if ctx.Err() != nil { // another failure cancelled this run, so its result shows nothing
						_ = os.RemoveAll(r.Dir)
						continue
					}
					done(r)
				}
				err = c.close(context.WithoutCancel(ctx))
			} else {
				stop()
			}
			mu.Lock()
			defer mu.Unlock()
			errs = errors.Join(errs, err)
		})
	}
feed:
	for _, job := range jobs {
		select {
		case queue <- job:
		case <-ctx.Done():
			break feed
		}
	}
	close(queue)
	wg.Wait()
	return results, errs
}

func (s Suite) dir(j Job) string {
	return filepath.Join(s.Dir, fmt.Sprintf("%s-seed-%d", j.Mix.Name, j.Seed))
}
