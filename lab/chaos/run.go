package chaos

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carve-ipam/carve/lab/heirs"
	"github.com/carve-ipam/carve/lab/herd"
)

// run is one plan in execution.
type run struct {
	plan     *Plan
	cluster  *cluster
	regions  []*region
	alike    bool // all servers are in one region
	db       database
	dir      string
	caller   *caller
	ledger   *ledger
	progress *progress
	attempts *attempts
	restored restored
	herd     *herd.Herd // nil without agents
	heirs    *heirs.Heirs
	keys     []key
	requests atomic.Int64
	posts    atomic.Int64 // requests by the harness itself
}

// Result is a run's outcome.
type Result struct {
	Mix        string
	Seed       uint64
	Operations int
	Requests   int64
	Tally      map[string]int // counts by outcome, disaster and fault
	Took       time.Duration
	Attempts   int // transactions and reads that the servers attempted
	Judged     int // operations that were checked for linearizability
	Unjudged   int // operations that could not be checked in the given time
	Violations []Violation
	Err        error // error of the harness
	Dir        string
}

// runLimit limits the duration of a run, so that a run that hangs ends too.
const runLimit = 10 * time.Minute

// perform runs a plan on a cluster. It creates dir, and removes dir after a run without violations.
func perform(ctx context.Context, c *cluster, p *Plan, environ []string, dir string) Result {
	began := time.Now()
	res := Result{Mix: p.Name, Seed: p.Seed, Dir: dir, Tally: map[string]int{}}
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	r := &run{
		plan: p, cluster: c, alike: len(distinct(p.Regions)) == 1, dir: dir,
		caller: newCaller(2 * p.Clients), ledger: newLedger(p.Pools), progress: newProgress(), attempts: newAttempts(),
		restored: restored{copied: make(chan struct{}), apart: map[string]bool{}},
	}
	defer r.caller.close()
	res.Err = r.all(ctx, environ, &res)
	res.Operations, res.Requests = r.progress.done, r.requests.Load()
	r.ledger.mu.Lock()
	res.Violations = r.ledger.wrong
	for what, n := range r.ledger.tally {
		res.Tally[what] += n
	}
	r.ledger.mu.Unlock()
	res.Took = time.Since(began)
	if len(res.Violations) == 0 && res.Err == nil {
		_ = os.RemoveAll(dir) // no report refers to this directory
	} else if err := r.write(res); err != nil {
		res.Err = errors.Join(res.Err, err)
	}
	return res
}

func (run *run) all(ctx context.Context, environ []string, res *Result) (err error) {
	if err := os.MkdirAll(run.dir, 0o700); err != nil {
		return err
	}
	run.db, err = run.prepare(ctx)
	if run.db.drop != nil {
		defer func() { err = errors.Join(err, run.db.drop(context.WithoutCancel(ctx))) }()
	}
	if err != nil {
		return fmt.Errorf("making a database: %w", err)
	}
	defer func() {
		for _, r := range run.regions {
			r.close()
		}
	}()
	for i := range run.plan.Regions {
		r, err := startRegion(ctx, run.plan, i, run.db.hosts, run.dir, run.cluster.programs, environ, run.attempts)
		if err != nil {
			return fmt.Errorf("starting server %d: %w", i, err)
		}
		run.regions = append(run.regions, r)
	}
	if err := run.tells(ctx); err != nil {
		return err
	}
	if err := errors.Join(run.furnish(ctx), run.newHerd(ctx)); err != nil {
		return err
	}
	run.work(ctx)
	for _, r := range run.regions {
		for _, way := range r.ways {
			for name, n := range way.Injected() {
				res.Tally["fault: "+name] += n
			}
		}
	}
	return run.judge(ctx, res)
}

// post creates an object while no faults are active. It sends the request to a server with a right clock.
func (run *run) post(ctx context.Context, path string, body any) (answer, error) {
	a := run.persist(ctx, run.right(), request{method: http.MethodPost, path: path, body: body, key: run.fresh()})
	if a.meaning() != succeeded {
		return a, fmt.Errorf("POST %s: %d %s %w", path, a.status, a.body, errors.Join(a.err))
	}
	return a, nil
}

// fresh returns an Idempotency-Key that no request of the run has used.
func (run *run) fresh() string { return fmt.Sprint("harness-", run.posts.Add(1)) }

// furnish creates the project and the pools before the faults begin.
func (run *run) furnish(ctx context.Context) error {
	if err := run.remake(ctx); err != nil {
		return err
	}
	for _, p := range run.plan.Pools {
		spec := obj{"cidr": p.Block.String(), "visibility": "consumer", "allocation": obj{"strategy": p.Strategy}}
		if p.ReuseAfter > 0 {
			spec["reuseAfter"] = p.ReuseAfter.String()
		}
		if run.plan.Served {
			spec["region"], spec["regions"] = run.plan.Regions[0], run.plan.Regions
		}
		if _, err := run.post(ctx, at("pools"), obj{"metadata": obj{"name": p.Name}, "spec": spec}); err != nil {
			return err
		}
	}
	return run.makeKeys(ctx)
}

// work runs the clients and the disasters, and returns when both have ended.
func (run *run) work(ctx context.Context) {
	for _, r := range run.regions {
		r.storm()
	}
	var clients, weather sync.WaitGroup
	weather.Go(func() { run.disasters(ctx) })
	for c := range run.plan.Ops {
		clients.Go(func() { run.client(ctx, run.plan.Ops[c]) })
	}
	if run.herd != nil {
		clients.Go(func() { run.herd.Work(ctx) })
	}
	over := make(chan struct{})
	run.heirs = run.newHeirs(over)
	weather.Go(func() { run.heirs.Work(ctx) })
	clients.Wait()
	close(over)
	run.progress.end()
	weather.Wait()
	for _, r := range run.regions {
		r.calm()
	}
}

func (run *run) happened(e Event) {
	run.ledger.note("", "%v", e)
	run.ledger.count("disaster: " + e.Disaster.String())
}

// broke records an error of the harness itself.
func (run *run) broke(doing string, err error) {
	if err != nil {
		run.ledger.violated("harness", "", "%s: %v", doing, err)
	}
}

// write stores the plan, the log and the violations beside the servers' logs.
func (run *run) write(res Result) error {
	f, err := os.Create(filepath.Join(run.dir, "report.txt"))
	if err != nil {
		return err
	}
	res.write(f, run.ledger, 1000)
	_, _ = fmt.Fprintf(f, "\nThe plan of %s, seed %d\n", run.plan.Name, run.plan.Seed)
	for _, p := range run.plan.Pools {
		_, _ = fmt.Fprintln(f, p)
	}
	for _, e := range run.plan.Events {
		_, _ = fmt.Fprintln(f, e)
	}
	for _, ops := range run.plan.Ops {
		for i := range ops {
			_, _ = fmt.Fprintln(f, &ops[i])
		}
	}
	_, _ = fmt.Fprintln(f, "\nWhat happened")
	for _, n := range run.ledger.lines {
		_, _ = fmt.Fprintln(f, n)
	}
	return f.Close()
}
