package scale

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/carve-ipam/carve/lab/tool"
)

// options are the values of the command's flags.
type options struct {
	axes       []string
	sizes      map[string][]string
	operations []operation
	bounds     bounds
	auditRows  int
	keyed      bool
	data       string
	json       string
	plots      string
}

func parse(args []string, usage io.Writer) (options, error) {
	o := options{sizes: map[string][]string{}, operations: reads()}
	f := flag.NewFlagSet("scale", flag.ContinueOnError)
	f.SetOutput(usage)
	f.Func("axis", "measure these axes alone, comma-separated: "+strings.Join(axisNames(), ", ")+" (default all)", func(list string) error {
		for name := range strings.SplitSeq(list, ",") {
			if _, err := findAxis(name); err != nil {
				return err
			}
			o.axes = append(o.axes, name)
		}
		return nil
	})
	f.Func("sizes", "sizes of an axis, the smallest first, as held=0,10k,1M (once for each axis)", func(text string) error {
		name, list, ok := strings.Cut(text, "=")
		if !ok {
			return errors.New("write AXIS=SIZE,SIZE")
		}
		a, err := findAxis(name)
		if err != nil {
			return err
		}
		o.sizes[name] = strings.Split(list, ",")
		_, err = a.plan(o.sizes[name])
		return err
	})
	f.IntVar(&o.bounds.operations, "ops", 8*claimRun, "how many operations of each kind are timed in each cell")
	f.DurationVar(&o.bounds.time, "time", 3*time.Second, "how long, in both cells together; then no more are begun")
	f.IntVar(&o.auditRows, "audit-rows", 6_000_000, "cells with more rows than that are checked by counting, and not by the whole audit")
	f.BoolVar(&o.keyed, "keyed", false, "make each claim with an idempotency key")
	f.StringVar(&o.data, "data", "bin/scale-data", "directory of the private database, made and removed; up to 15 GB")
	f.StringVar(&o.json, "json", "bin/scale.json", "where the result goes")
	f.StringVar(&o.plots, "plots", "docs/performance", "directory of the plots, one for each axis; empty: none")
	if err := tool.Parse(f, args); err != nil {
		return o, err
	}
	if o.bounds.operations < 1 || o.bounds.time <= 0 {
		return o, errors.New("-ops and -time must be positive")
	}
	if len(o.axes) == 0 {
		o.axes = axisNames()
	}
	return o, nil
}

// Run runs the command.
func Run(ctx context.Context, args []string) (err error) {
	o, err := parse(args, os.Stderr)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	db, err := startDatabase(ctx, o.data, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.keyed = o.keyed
	_, err = fmt.Fprintf(os.Stdout, "%d CPUs, caller and database on the same; PostgreSQL %s, fsync %s, shared_buffers %s; one client, in process. × is to the smallest cell of the axis, measured in turn.\n\n",
		db.Machine.CPUs, db.Machine.Version, db.Machine.FSync, db.Machine.Buffers)
	if err != nil {
		return err
	}
	all := &report{Machine: db.Machine, Operations: o.bounds.operations}
	begin := time.Now()
	var broken []error
	for _, a := range axes() {
		if !slices.Contains(o.axes, a.name) {
			continue
		}
		cells, err := o.cells(a)
		if err != nil {
			return err
		}
		results, err := measureAxis(ctx, db, a, cells, o, log)
		if err != nil {
			return err
		}
		all.Cells, all.Seconds = append(all.Cells, results...), time.Since(begin).Seconds()
		broken = append(broken, verdict(results))
		if err := errors.Join(show(a, results), tool.Save(o.json, all), o.plot(a, results)); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(os.Stdout, "The run took %s.\n", time.Since(begin).Round(time.Second))
	return errors.Join(append(broken, err)...)
}

func (o options) cells(a *axis) ([]cell, error) {
	sizes := a.sizes
	if chosen, ok := o.sizes[a.name]; ok {
		sizes = chosen
	}
	return a.plan(sizes)
}

func (o options) plot(a *axis, results []*result) error {
	if o.plots == "" {
		return nil
	}
	if err := os.MkdirAll(o.plots, 0o750); err != nil {
		return err
	}
	return drawAxis(a, results, filepath.Join(o.plots, a.name+".svg"))
}
