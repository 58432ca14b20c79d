// Package hostile measures the effect of slow and hostile clients on other clients. It starts the real server with its embedded database as a
// separate process. It sends a light and steady load, and runs one attack after another. During each attack it measures the response times of the
// load and the memory of the server. The run fails if a request of the load fails, or if the server exceeds its memory limit. See docs/security.md.
package hostile

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/carve-ipam/carve/lab/procstat"
	"github.com/carve-ipam/carve/lab/tool"
)

// options are the values of the command's flags.
type options struct {
	server string
	data   string
	json   string
	only   string
	tls    bool
	time   time.Duration
	alone  time.Duration
	rounds int
	rate   float64
	idle   int
	slow   int
	memory int64
}

func parse(args []string) (options, error) {
	o := options{}
	f := flag.NewFlagSet("hostile", flag.ContinueOnError)
	f.StringVar(&o.server, "server", "bin/server", "the server's program")
	f.StringVar(&o.data, "data", "bin/hostile-data", "directory of the server's database, made and removed")
	f.StringVar(&o.json, "json", "bin/hostile.json", "where the result goes; the server's log is beside it")
	f.StringVar(&o.only, "only", "", "attacks whose name has this in it; empty: all")
	f.BoolVar(&o.tls, "tls", false, "have the server speak TLS, and add the attacks on that")
	f.DurationVar(&o.time, "time", 5*time.Second, "how long each attack goes on once it is under way")
	f.DurationVar(&o.alone, "alone", 3*time.Second, "how long the load is alone before each attack")
	f.IntVar(&o.rounds, "rounds", 1, "how often all attacks are tried; the ratio is the median of those of the rounds, which a machine that is disturbed now and then does not move")
	f.Float64Var(&o.rate, "rate", 40, "requests a second of the load; every other one is a claim")
	f.IntVar(&o.idle, "idle", 10_000, "connections of the attack that keeps idle ones")
	f.IntVar(&o.slow, "slow", 2_000, "connections of each attack that is slow")
	f.Int64Var(&o.memory, "memory", 640, "megabytes that the server's process may take")
	if err := tool.Parse(f, args); err != nil {
		return o, err
	}
	if o.time <= 0 || o.alone <= 0 || o.rate <= 0 || o.rounds < 1 || o.idle < 1 || o.slow < 1 || o.memory < 1 {
		return o, errors.New("-time, -alone, -rate, -rounds, -idle, -slow and -memory must be positive")
	}
	return o, nil
}

// Run runs the command.
func Run(ctx context.Context, args []string) (err error) {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if err := procstat.EnoughFiles(max(o.idle, o.slow), 400, "ask for fewer (-idle, -slow)"); err != nil {
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
	r := report{Machine: aboutMachine(), Flags: args, Bound: o.memory << 20}
	if _, err := s.load(ctx, o, o.alone, nil, nil); err != nil { // makes connections and database plans
		return err
	}
	tried := slices.DeleteFunc(attacks(o), func(a attack) bool { return !strings.Contains(a.name, o.only) })
	for range o.rounds {
		for _, a := range tried {
			fmt.Fprintln(os.Stderr, "hostile:", a.name)
			one, err := s.measure(ctx, o, a)
			if err != nil {
				return fmt.Errorf("%s: %w", a.name, err)
			}
			r.add(one)
		}
	}
	if len(r.Attacks) == 0 {
		return fmt.Errorf("no attack has %q in its name", o.only)
	}
	r.sum()
	_, _ = fmt.Fprint(os.Stdout, r.table())
	return errors.Join(tool.Save(o.json, r), r.verdict())
}

// measure runs the load first alone and then during the attack. It also reads the server's use of resources.
func (s *server) measure(ctx context.Context, o options, a attack) (result, error) {
	r := result{Name: a.name}
	alone, err := s.load(ctx, o, o.alone, nil, nil)
	if err != nil {
		return r, err
	}
	if r.Before, _, err = procstat.Memory(s.Pid()); err != nil {
		return r, err
	}
	if err := procstat.Forget(s.Pid()); err != nil {
		return r, err
	}
	during, stop := context.WithCancel(ctx)
	defer stop()
	under, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- a.run(during, s, o, under) }()
	var settled spent
	beside, failed := s.load(ctx, o, o.time, under, func() { settled = spentNow() })
	now := spentNow()
	_, r.Peak, err = procstat.Memory(s.Pid())
	stop()
	err = errors.Join(failed, err, settled.err, now.err, <-ended)
	if err == nil {
		r.Served, r.Attacked = now.since(settled, s.Pid())
	}
	r.alone, r.beginning, r.beside = alone.times, beside.beginning, beside.times
	r.Requests, r.Failed, r.AnError = len(alone.times)+len(beside.beginning)+len(beside.times)+alone.failed+beside.failed, alone.failed+beside.failed, firstOf(beside.anError, alone.anError)
	if err == nil {
		r.After, _, err = procstat.Memory(s.Pid())
	}
	return r, errors.Join(err, ctx.Err())
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
