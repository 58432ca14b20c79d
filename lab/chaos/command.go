package chaos

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Run runs the command. It returns an error if a check fails or a run cannot start.
func Run(ctx context.Context, args []string) error { return command(ctx, args, os.Stdout) }

type options struct {
	programs Binaries
	twins    bool
	all      bool
	only     string
	seeds    int
	first    uint64
	seed     int64
	workers  int
	dir      string
	url      string
	verbose  bool
}

func (o *options) flags() *flag.FlagSet {
	f := flag.NewFlagSet("chaos", flag.ContinueOnError)
	f.StringVar(&o.programs.Server, "server", "bin/server", "the server to test; with --twins, one whose protections can be taken away (package twins)")
	f.StringVar(&o.programs.Skewed, "skewed", "bin/skewed/server", "the same server, built so that its clock can be off (package skew)")
	f.StringVar(&o.programs.Ipamctl, "ipamctl", "bin/ipamctl", "the program that migrates and audits")
	f.IntVar(&o.seeds, "seeds", 20, "how many seeds")
	f.Uint64Var(&o.first, "first", 1, "the first of them")
	f.Int64Var(&o.seed, "seed", -1, "run this seed alone")
	f.IntVar(&o.workers, "workers", 4, "runs at the same time, each with a database server of its own")
	f.StringVar(&o.only, "mix", "", "only this mix, or this twin")
	f.StringVar(&o.url, "database-url", "", "postgresql:// URL of a CockroachDB of yours, a node with --locality=region=local, on which the runs are made; it is not restarted")
	f.BoolVar(&o.twins, "twins", false, "show that the suite fails for each server that lacks a protection")
	f.BoolVar(&o.all, "all-seeds", false, "with --twins: do not stop at the first seed that shows it, and count them")
	f.StringVar(&o.dir, "keep", filepath.Join(os.TempDir(), "carve-chaos-failures"), "where the logs of runs that fail are kept")
	f.BoolVar(&o.verbose, "verbose", false, "a line for each run")
	return f
}

func command(ctx context.Context, args []string, out io.Writer) error {
	var o options
	if err := o.flags().Parse(args); err != nil {
		return err
	}
	if o.twins && o.url != "" {
		return errors.New("--twins shows what a PostgreSQL finds, and starts its own")
	}
	began := time.Now()
	do := suite
	if o.twins {
		do = showTwins
	}
	held, err := do(ctx, o, out)
	_, _ = fmt.Fprintf(out, "took %.0f s\n", time.Since(began).Seconds())
	switch {
	case err != nil:
		return fmt.Errorf("the suite could not be run: %w", err)
	case !held:
		return errors.New("not everything held, or not enough was judged")
	}
	return nil
}

// sayEvery is the number of finished runs between two progress lines.
const sayEvery = 50

// suite runs one seed after another. The seeds take the mixes in turn.
func suite(ctx context.Context, o options, out io.Writer) (bool, error) {
	mixes := Mixes()
	if o.url != "" {
		mixes = onSomebodyElses(mixes)
	}
	if o.only != "" {
		mixes = slices.DeleteFunc(mixes, func(m Mix) bool { return m.Name != o.only })
		if len(mixes) == 0 {
			return false, fmt.Errorf("there is no mix %q", o.only)
		}
	}
	var jobs []Job
	for i := range uint64(o.seeds) { //nolint:gosec // a count
		seed := o.first + i
		jobs = append(jobs, Job{Mix: mixes[seed%uint64(len(mixes))], Seed: seed})
	}
	if o.seed >= 0 {
		seed := uint64(o.seed)
		jobs = []Job{{Mix: mixes[seed%uint64(len(mixes))], Seed: seed}}
	}
	done, bad, began := 0, 0, time.Now()
	s := Suite{Programs: o.programs, URL: o.url, Workers: min(o.workers, len(jobs)), Dir: o.dir, Each: func(r Result) {
		say(out, o, r)
		if done++; failed(r) {
			bad++
		}
		if done%sayEvery == 0 {
			_, _ = fmt.Fprintf(out, "%d of %d seeds, %d did not hold, %.0f min\n", done, len(jobs), bad, time.Since(began).Minutes())
		}
	}}
	results, err := s.Run(ctx, jobs)
	if err != nil {
		return false, err
	}
	return total(out, jobs, results), nil
}

// say prints a failed run, or every run when the output is verbose.
func say(out io.Writer, o options, r Result) {
	if !failed(r) && !o.verbose {
		return
	}
	_, _ = fmt.Fprintln(out, r)
	if !failed(r) {
		return
	}
	for i, v := range r.Violations {
		if i == 5 {
			_, _ = fmt.Fprintf(out, "  and %d more\n", len(r.Violations)-i)
			break
		}
		_, _ = fmt.Fprintln(out, "  "+v.String())
	}
	_, _ = fmt.Fprintf(out, "  plan, history and logs: %s; again: %s\n", r.Dir, again(o, r))
}

// again returns the command line that repeats a seed.
func again(o options, r Result) string {
	switch {
	case o.url != "":
		return fmt.Sprintf("make chaos FLAGS='--database-url=… --seed=%d --mix=%s'", r.Seed, r.Mix)
	case o.twins:
		return fmt.Sprintf("make chaos-twins FLAGS='--mix=%s --first=%d'", r.Mix, r.Seed)
	case o.only != "":
		return fmt.Sprintf("make chaos FLAGS='--seed=%d --mix=%s'", r.Seed, r.Mix)
	default:
		return fmt.Sprintf("make chaos FLAGS=--seed=%d", r.Seed)
	}
}

// total prints the totals of all runs. It reports whether every check passed and the harness judged every run.
func total(out io.Writer, jobs []Job, results []Result) bool {
	tally := map[string]int{}
	operations, judged, unjudged, bad := 0, 0, 0, len(jobs)-len(results)
	var requests int64
	for _, r := range results {
		operations, requests, judged, unjudged = operations+r.Operations, requests+r.Requests, judged+r.Judged, unjudged+r.Unjudged
		if failed(r) {
			bad++
		}
		for what, n := range r.Tally {
			tally[what] += n
		}
	}
	var words []string
	for _, what := range slices.Sorted(maps.Keys(tally)) {
		words = append(words, fmt.Sprintf("%s %d", what, tally[what]))
	}
	_, _ = fmt.Fprintf(out, "%d of %d seeds held; %d operations, %d requests, %d judged linearizable, %d not judged in time\n%s\n",
		len(jobs)-bad, len(jobs), operations, requests, judged, unjudged, strings.Join(words, ", "))
	return bad == 0 && unjudged*10 <= judged
}
