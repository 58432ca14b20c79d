package rivals

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"time"

	"github.com/carve-ipam/carve/lab/postgres"
	"github.com/carve-ipam/carve/lab/scale"
	"github.com/carve-ipam/carve/lab/tool"
)

// options are the values of the command's flags.
type options struct {
	time   time.Duration // measured time of each cell
	warm   time.Duration // unmeasured time before the measured time
	grace  time.Duration // time for the unfinished operations at the end
	bound  time.Duration // limit for a single operation; if one operation alone is slower, the cell is skipped
	setup  time.Duration // time to prepare a cell
	rounds int
	within time.Duration // no round begins after this time
	only   *regexp.Regexp
	rows   string
	url    string
	pprof  string // directory for the CPU profiles; if empty, none are written
	data   string
	json   string
}

func parse(args []string) (options, error) {
	var o options
	only := ""
	f := flag.NewFlagSet("compare", flag.ContinueOnError)
	f.DurationVar(&o.time, "time", 2*time.Second, "how long each cell is measured in a round")
	f.DurationVar(&o.warm, "warm", time.Second, "how long each cell runs before that")
	f.DurationVar(&o.grace, "grace", 10*time.Second, "how long operations that are under way at the end of a cell may take to finish; then they are cut off and counted")
	f.DurationVar(&o.bound, "bound", 5*time.Second, "a cell is skipped when one operation, alone, takes longer")
	f.DurationVar(&o.setup, "setup", time.Minute, "a cell is skipped when making it ready takes longer")
	f.IntVar(&o.rounds, "rounds", 3, "how often all cells are measured, one after the other; the medians are told")
	f.DurationVar(&o.within, "within", 7*time.Minute, "no cell is begun later than that after the first")
	f.StringVar(&only, "only", "", "regular expression: measure what these lines of the table of goals need")
	f.StringVar(&o.rows, "rows", "1M", "how many blocks are held when a claim and pages of lists are measured among many; 10M takes half an hour")
	f.StringVar(&o.url, "database-url", "", "postgresql:// URL of a PostgreSQL or CockroachDB to measure on, by a user who may do everything; empty: a private PostgreSQL")
	f.StringVar(&o.pprof, "profile", "", "directory: write a processor profile of each cell, with the labels of its table line in the name")
	f.StringVar(&o.data, "data", "bin/compare-data", "directory of the private database, made and removed; on the disk that is to be measured")
	f.StringVar(&o.json, "json", "bin/compare.json", "where the result goes")
	if err := tool.Parse(f, args); err != nil {
		return o, err
	}
	if o.time <= 0 || o.warm < 0 || o.grace <= 0 || o.rounds < 1 {
		return o, errors.New("-time, -grace and -rounds must be positive, -warm not negative")
	}
	if _, err := scale.ParseSize(o.rows); err != nil {
		return o, err
	}
	var err error
	o.only, err = regexp.Compile(only)
	return o, err
}

// Run runs the command.
func Run(ctx context.Context, args []string) (err error) {
	o, err := parse(args)
	if err != nil {
		return err
	}
	r, err := compare(ctx, o)
	if err != nil {
		return err
	}
	goals := goalsOf(r.wanted, r.results)
	grown, broken := growth(ctx, o)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.Join(writeReport(o.json, r.machine, o, r.results, append(goals, grown...)), verdict(r.results), r.audit, broken)
}

// run has the results of a run.
type run struct {
	machine postgres.Machine
	wanted  []compared // the selected goals
	results []*result
	audit   error // result of the audit of the shared database
}

// compare measures the cells of the selected goals, one round after another.
func compare(ctx context.Context, o options) (r run, err error) {
	db, err := startDatabase(ctx, o)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	r.machine = db.Machine
	all := onPostgreSQL
	if db.Cockroach {
		all = onCockroachDB
	}
	if o.only.String() != "" {
		all = slices.Concat(all, logLines)
	}
	for _, w := range all {
		if o.only.MatchString(w.title()) {
			r.wanted = append(r.wanted, w)
		}
	}
	begin := time.Now()
	for round := range o.rounds {
		for _, c := range plan(r.wanted, round, o.warm+o.time) {
			if time.Since(begin) > o.within {
				break
			}
			one := measure(ctx, db, c, o)
			if ctx.Err() != nil {
				return r, ctx.Err()
			}
			fmt.Fprintln(os.Stderr, one.line())
			r.results = append(r.results, one)
		}
	}
	if db.shared > 0 {
		r.audit = db.audit(ctx, postgres.Carve)
	}
	return r, nil
}
