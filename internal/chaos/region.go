package chaos

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carve-ipam/carve/internal/pgfault"
	"github.com/carve-ipam/carve/internal/serverproc"
	"github.com/carve-ipam/carve/internal/skew"
)

// region is a server process and its way to the database.
type region struct {
	name     string
	index    int
	plan     *Plan
	programs Binaries
	environ  []string
	dir      string

	proxy *pgfault.Proxy
	far   *pgfault.Distances
	clock *skew.Clock // nil: it is right

	mu       sync.Mutex // held while the server is being replaced
	process  *serverproc.Server
	addr     atomic.Pointer[string] // where the server is, or was last
	attempts *attempts
}

func startRegion(ctx context.Context, p *Plan, index int, dsn, dir string, programs Binaries, environ []string, a *attempts) (*region, error) {
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
	proxy, err := pgfault.Start(context.WithoutCancel(ctx), dsn)
	if err != nil {
		return nil, err
	}
	r.proxy = proxy
	if err := r.start(ctx); err != nil {
		proxy.Close()
		return nil, err
	}
	return r, nil
}

// start runs the server, again and again while the database does not let it.
func (r *region) start(ctx context.Context) error {
	program, environ := r.programs.Server, r.environ
	if r.clock != nil {
		program, environ = r.programs.Skewed, append(slices.Clone(environ), r.clock.Environ())
	}
	for {
		p, err := startProcess(ctx, program, filepath.Join(r.dir, fmt.Sprintf("server-%d.log", r.index)), environ,
			"--database-url="+r.proxy.DSN(), "--region="+r.name, "--request-timeout="+r.plan.Timeout.String(), "--max-connections=8")
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

// replace kills the server with kill -9 and starts another.
func (r *region) replace(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attempts.scrape(ctx, r)
	r.process.Kill()
	return r.start(ctx)
}

// storm puts the faults of statements in force; extra ones come first.
func (r *region) storm(extra ...pgfault.Rule) {
	r.proxy.SetRules(append(extra, r.plan.Weather.rules(r.plan.Seed*8+uint64(r.index), r.far)...)...) //nolint:gosec // an index
}

// calm ends all faults.
func (r *region) calm() {
	r.proxy.SetRules()
	r.proxy.Heal()
}

// rest ends the server and returns when the database has finished everything that it had been sent.
func (r *region) rest(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attempts.scrape(ctx, r)
	r.process.Kill()
	return r.proxy.AwaitIdle(ctx)
}

func (r *region) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process != nil {
		r.process.Kill()
	}
	r.proxy.Close()
	if r.clock != nil {
		_ = r.clock.Close() // nobody reads it any more
	}
}

// wait waits for a time; false when ctx ends first.
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
