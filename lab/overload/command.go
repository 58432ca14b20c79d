// Package overload tests the server under more load than it can handle. The load consists of claims or of pages of lists. The package starts the real
// server with its embedded database as a separate process, and measures its capacity. Then it sends requests at a quarter to four times that rate,
// even if the server cannot keep up. It also reads the memory of the server's process with many idle and many active connections. See
// docs/performance.md.
package overload

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/carve-ipam/carve/lab/procstat"
	"github.com/carve-ipam/carve/lab/tool"
)

// options are the values of the command's flags.
type options struct {
	server      string
	audit       string
	flags       string
	data        string
	json        string
	time        time.Duration
	closed      int
	pools       int
	lists       int
	page        int
	connections int
	idle        int
	active      int
	patience    time.Duration
	saturation  float64
	steps       []float64
}

func parse(args []string) (options, error) {
	o := options{steps: []float64{0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4}}
	f := flag.NewFlagSet("overload", flag.ContinueOnError)
	f.StringVar(&o.server, "server", "bin/server", "the server's program")
	f.StringVar(&o.audit, "audit", "bin/ipamctl", "the program that audits the data at the end; empty: it is not audited")
	f.StringVar(&o.flags, "flags", "", "more flags for the server, separated by spaces")
	f.StringVar(&o.data, "data", "bin/overload-data", "directory of the server's database, made and removed")
	f.StringVar(&o.json, "json", "bin/overload.json", "where the result goes")
	f.DurationVar(&o.time, "time", 5*time.Second, "how long each rate is offered, and how long saturation is measured")
	f.IntVar(&o.closed, "clients", 64, "clients that measure what the server can serve, each as soon as it was answered")
	f.IntVar(&o.pools, "pools", 1, "pools that the claims are spread over, 1 to 16")
	f.IntVar(&o.lists, "lists", 0, "claims that each of 4 tenants has; then all requests are for pages of lists: of their claims, of those in one pool, of their allocations; 0: all requests claim")
	f.IntVar(&o.page, "page", 100, "how long those pages are")
	f.IntVar(&o.connections, "connections", 3000, "connections that the rates are offered over; a request that finds all of them busy is counted as not sent")
	f.IntVar(&o.idle, "idle", 10_000, "idle connections to read the memory with; 0: not read")
	f.IntVar(&o.active, "active", 1000, "active connections to read the memory with; 0: not read")
	f.DurationVar(&o.patience, "patience", 15*time.Second, "how long a request may take")
	f.Float64Var(&o.saturation, "saturation", 0, "requests a second that count as 1x; 0: it is measured")
	f.Func("steps", "comma-separated: parts of the saturation to offer (default 0.25,0.5,0.75,1,1.5,2,3,4)", func(list string) error {
		o.steps = nil
		for part := range strings.SplitSeq(list, ",") {
			step, err := strconv.ParseFloat(part, 64)
			if err != nil || step <= 0 || step > 100 {
				return fmt.Errorf("%q is not a number above 0", part)
			}
			o.steps = append(o.steps, step)
		}
		return nil
	})
	if err := tool.Parse(f, args); err != nil {
		return o, err
	}
	if o.time <= 0 || o.patience <= 0 || o.closed < 1 || o.connections < 1 || o.pools < 1 || o.pools > maxPools || o.lists < 0 {
		return o, errors.New("-time, -patience, -clients and -connections must be positive, -pools 1 to 16")
	}
	return o, nil
}

// Run runs the command.
func Run(ctx context.Context, args []string) (err error) {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if err := procstat.EnoughFiles(max(o.connections, o.idle, o.active), 200, "ask for fewer"); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(o.json), 0o750); err != nil {
		return err
	}
	s, err := startServer(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	r := report{Machine: aboutMachine(), Flags: args}
	if r.Memory, err = measureIdle(ctx, s, o); err != nil {
		return err
	}
	if r.Closed, err = saturation(ctx, s, o); err != nil {
		return err
	}
	r.Saturation = r.Closed.Goodput
	if o.saturation > 0 {
		r.Saturation = o.saturation
	}
	fmt.Fprintln(os.Stderr, r.Closed.line("saturation"))
	active, err := measureActive(ctx, s, o)
	if err != nil {
		return err
	}
	r.Memory = append(r.Memory, active...)
	kept, err := s.keep(ctx, o, o.connections)
	if err != nil {
		return err
	}
	defer closeAll(kept)
	for _, step := range o.steps {
		result, err := offer(ctx, s, o, kept, step*r.Saturation)
		if err != nil {
			return err
		}
		result.Times = step
		r.Steps = append(r.Steps, result)
		fmt.Fprintln(os.Stderr, result.line(result.name()))
	}
	if r.Audit, err = s.audit(ctx, o); err != nil {
		return err
	}
	return r.write(o.json)
}
