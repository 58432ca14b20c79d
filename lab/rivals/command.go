package rivals

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/carve-ipam/carve/lab/tool"
)

// options are the flags.
type options struct {
	time  time.Duration // measured in each cell
	warm  time.Duration // run before it, unmeasured
	grace time.Duration // for what is under way at the end
	bound time.Duration // one operation alone; a slower one makes the cell skipped
	setup time.Duration // to make a cell ready
	only  *regexp.Regexp
	at    map[int]bool // numbers of clients; empty: all
	with  map[int]bool // blocks held before; empty: all
	pprof string       // directory for the profiles; empty: none
	data  string
	json  string
}

func parse(args []string) (options, error) {
	var o options
	only := ""
	f := flag.NewFlagSet("compare", flag.ContinueOnError)
	f.DurationVar(&o.time, "time", 3*time.Second, "how long each cell is measured")
	f.DurationVar(&o.warm, "warm", time.Second, "how long each cell runs before that")
	f.DurationVar(&o.grace, "grace", 10*time.Second, "how long operations that are under way at the end of a cell may take to finish; then they are cut off and counted")
	f.DurationVar(&o.bound, "bound", 5*time.Second, "a cell is skipped when one operation, alone, takes longer")
	f.DurationVar(&o.setup, "setup", time.Minute, "a cell is skipped when making it ready takes longer")
	f.Func("clients", "comma-separated: measure with these numbers of clients alone", numbers(&o.at))
	f.Func("held", "comma-separated: measure with so many blocks held before alone", numbers(&o.with))
	f.StringVar(&o.pprof, "profile", "", "directory: write a processor profile of each cell, with the labels of its table line in the name")
	f.StringVar(&only, "only", "", "regular expression: measure these contestants alone")
	f.StringVar(&o.data, "data", "bin/compare-data", "directory of the private database, made and removed; on the disk that is to be measured")
	f.StringVar(&o.json, "json", "bin/compare.json", "where the result goes")
	if err := tool.Parse(f, args); err != nil {
		return o, err
	}
	if o.time <= 0 || o.warm < 0 || o.grace <= 0 {
		return o, errors.New("-time and -grace must be positive, -warm not negative")
	}
	var err error
	o.only, err = regexp.Compile(only)
	return o, err
}

// Run is the command.
func Run(ctx context.Context, args []string) (err error) {
	o, err := parse(args)
	if err != nil {
		return err
	}
	db, err := startDatabase(ctx, o.data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	results, err := compare(ctx, db, o)
	if err != nil {
		return err
	}
	if err := writeReport(o.json, db.Machine, o, results); err != nil {
		return err
	}
	return verdict(results)
}

// numbers reads a list like 1,32.
func numbers(into *map[int]bool) func(string) error {
	return func(list string) error {
		*into = map[int]bool{}
		for part := range strings.SplitSeq(list, ",") {
			n, err := strconv.Atoi(part)
			if err != nil {
				return err
			}
			(*into)[n] = true
		}
		return nil
	}
}

// compare measures every cell. Contestants take turns within a cell, so that what is compared was measured in the same minute.
func compare(ctx context.Context, db *database, o options) ([]*result, error) {
	var results []*result
	for _, c := range plan(o) {
		r := measure(ctx, db, c, o)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		fmt.Fprintln(os.Stderr, r.line())
		results = append(results, r)
	}
	compareWithCarve(results)
	return results, nil
}
