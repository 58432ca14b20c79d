package chaos

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carve-ipam/carve/internal/testkit/pgfault"
	"github.com/carve-ipam/carve/lab/serverproc"
	"github.com/carve-ipam/carve/lab/skew"
)

// region is a server process with its own connection to the database.
type region struct {
	name     string
	index    int
	plan     *Plan
	programs Binaries
	environ  []string
	dir      string

	ways  []*pgfault.Proxy // one proxy for each host of the database
	far   *pgfault.Distances
	clock *skew.Clock // nil if the clock is right

	mu       sync.Mutex // held while the server is being replaced
	process  *serverproc.Server
	addr     atomic.Pointer[string] // current or last address of the server
	attempts *attempts
}

func startRegion(ctx context.Context, p *Plan, index int, hosts []string, dir string, programs Binaries, environ []string, a *attempts) (*region, error) {
	r := &region{
		name: p.Regions[index], index: index, plan: p, programs: programs, environ: environ, dir: dir,
		far: pgfault.NewDistances(nil), attempts: a,
	}
	if p.isOff(index) {
		var err error
		if r.clock, err = skew.NewClock(filepath.Join(dir, fmt.Sprintf("clock-%d", index))); err != nil {
			return nil, err
		}
		r.clock.Set(p.Off.Ahead)
	}
	for _, dsn := range hosts {
		way, err := pgfault.Start(context.WithoutCancel(ctx), dsn)
		if err != nil {
			r.close()
			return nil, err
		}
		r.ways = append(r.ways, way)
	}
	if err := r.start(ctx); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// start starts the server. It retries while the database is not available.
func (r *region) start(ctx context.Context) error {
	program, environ := r.programs.Server, r.environ
	if r.clock != nil {
		program, environ = r.programs.Skewed, append(slices.Clone(environ), r.clock.Environ())
	}
	dsns := make([]string, len(r.ways))
	for i, way := range r.ways {
		dsns[i] = way.DSN()
	}
	dsn, err := several(dsns)
	if err != nil {
		return err
	}
	for {
		p, err := startProcess(ctx, program, filepath.Join(r.dir, fmt.Sprintf("server-%d.log", r.index)), environ,
			"--database-url="+dsn, "--region="+r.name, "--request-timeout="+r.plan.Timeout.String(), "--max-connections=8")
		if err == nil {
			addr := p.Addr()
			r.process = p
			r.addr.Store(&addr)
			return nil
		}
		if !wait(ctx, 50*time.Millisecond) {
			return err
		}
	}
}

// replace kills the server with kill -9 and starts another one.
func (r *region) replace(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attempts.scrape(ctx, r)
	r.process.Kill()
	return r.start(ctx)
}

// storm activates the faults of statements. The extra rules come before the rules of the weather.
func (r *region) storm(extra ...pgfault.Rule) {
	for _, way := range r.ways {
		way.SetRules(append(extra, r.plan.Weather.rules(r.plan.Seed*8+uint64(r.index), r.far)...)...) //nolint:gosec // an index
	}
}

// calm ends all faults.
func (r *region) calm() {
	for _, way := range r.ways {
		way.SetRules()
		way.Heal()
	}
}

// rest stops the server. It returns when the database has finished everything that it received from the server.
func (r *region) rest(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attempts.scrape(ctx, r)
	r.process.Kill()
	for _, way := range r.ways {
		if err := way.AwaitIdle(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (r *region) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process != nil {
		r.process.Kill()
	}
	for _, way := range r.ways {
		way.Close()
	}
	if r.clock != nil {
		_ = r.clock.Close() // the process that read it has ended
	}
}

// wait waits for a time. It returns false if ctx ends before that.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
