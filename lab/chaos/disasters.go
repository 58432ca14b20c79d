package chaos

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carve-ipam/carve/internal/testkit/pgfault"
)

// progress counts the completed operations. It wakes the goroutines that wait for a certain count.
type progress struct {
	mu      sync.Mutex
	done    int
	over    bool
	changed chan struct{}
}

func newProgress() *progress { return &progress{changed: make(chan struct{})} }

func (p *progress) add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	p.wake()
}

// end records that no further operation will complete.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	p.wake()
}

func (p *progress) wake() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// await waits for n completed operations. It returns false if fewer than n will complete.
func (p *progress) await(ctx context.Context, n int) bool {
	for {
		p.mu.Lock()
		done, over, changed := p.done, p.over, p.changed
		p.mu.Unlock()
		switch {
		case done >= n:
			return true
		case over:
			return false
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// disasters starts each event of the plan at its operation count. It returns when all events have ended.
func (run *run) disasters(ctx context.Context) {
	var wg sync.WaitGroup
	slow := make([]atomic.Int32, len(run.regions))
	events := slices.Clone(run.plan.Events)
	slices.SortStableFunc(events, func(a, b Event) int { return a.At - b.At })
	for _, e := range events {
		if !run.progress.await(ctx, e.At) {
			break
		}
		run.happened(e)
		wg.Go(func() { run.happen(ctx, e, &slow[e.Region]) })
	}
	wg.Wait()
}

func (run *run) happen(ctx context.Context, e Event, slow *atomic.Int32) {
	r := run.regions[e.Region]
	switch e.Disaster {
	case Kill:
		run.broke("starting a server again", r.replace(ctx))
	case Partition:
		for _, way := range r.ways {
			way.Partition()
		}
		wait(ctx, e.For)
		for _, way := range r.ways {
			way.Heal()
		}
	case Restart:
		run.broke("restarting the database", run.cluster.restart(ctx))
	case Sever:
		for _, way := range r.ways {
			way.Sever()
		}
	case Copy:
		run.broke("copying the rows of a region", run.copyRows(ctx, r.name))
	case PutBack:
		if err := run.putBack(ctx, r.name); err != nil {
			run.broke("restoring the rows of a region", err)
			return
		}
		run.restored.asked.Store(r)
		run.fencedOff(ctx, r)
		run.progress.await(ctx, e.At+run.plan.Clients*run.plan.Operations/4) // clients continue to work during that time
		run.restored.asked.Store(nil)
		run.broke("reconciling a region", run.reconcile(ctx))
	case Pause:
		run.broke("pausing a server", run.pause(ctx, r, e.For))
	case CutOff:
		run.cutOff(ctx, r, e.For)
	case FailOver, CrashAndFailOver:
		run.broke("failing over", run.failOver(ctx, e.Disaster == CrashAndFailOver))
	case Step:
		r.clock.Set(e.For)
	case Apart:
		r.far.Set(others(run.plan.Regions, r.name, e.For))
		wait(ctx, e.For)
		r.far.Set(nil)
	case Slow:
		slow.Add(1)
		r.storm(pgfault.Probability(0.5, run.plan.Seed, pgfault.SlowCommit(e.For)))
		wait(ctx, 2*e.For)
		if slow.Add(-1) == 0 {
			r.storm()
		}
	}
}

// others returns a map of delays. Each region except one gets the same delay.
func others(regions []string, but string, far time.Duration) map[string]time.Duration {
	out := map[string]time.Duration{}
	for _, r := range regions {
		if r != but {
			out[r] = far
		}
	}
	return out
}
