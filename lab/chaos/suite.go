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

// Suite is many runs.
type Suite struct {
	Programs Binaries
	URL      string   // of somebody else's CockroachDB; empty: a PostgreSQL is started
	Environ  []string // of the servers, besides the little that they need
	Workers  int      // runs at the same time, each with a database server of its own
	Dir      string   // for the logs of runs that fail; made when it is needed
	Enough   int      // stop after so many runs that failed; 0: never
	Each     func(Result)
}

// Job is a run to do.
type Job struct {
	Mix  Mix
	Seed uint64
}

// Run does the jobs and answers what came of each that was done.
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
					if ctx.Err() != nil { // cut short by another's failure: says nothing
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
