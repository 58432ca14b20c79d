// Package rolling restarts three servers one after another under load. 64 clients of k6 claim and release through a load balancer. No request may
// fail, no block may be lost or handed out twice, and the audit must find no fault. See docs/evidence.md.
//
// The balancer works like a Kubernetes Service for a Deployment with a surge. New connections go only to servers that were ready at the last probe.
// So a new server gets connections after it is ready, and a stopping server gets none after the next probe.
package rolling

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/carve-ipam/carve/internal/devdb"
	"github.com/carve-ipam/carve/lab/tool"
)

type options struct {
	server, ipamctl string
	load            string
	scenario        string
	replicas        int
	rounds          int
	clients         int
	duration        time.Duration
	drain           time.Duration
	probe           time.Duration
}

// Run runs the command.
func Run(ctx context.Context, args []string) error { return run(ctx, args, os.Stdout) }

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("rolling", flag.ContinueOnError)
	f.StringVar(&o.server, "server", "bin/server", "the server's program")
	f.StringVar(&o.ipamctl, "ipamctl", "bin/ipamctl", "the program that migrates and audits")
	f.StringVar(&o.load, "load", "loadtest/run.sh", "what runs the load, given the scenario")
	f.StringVar(&o.scenario, "scenario", "hot-pool", "the scenario of the load tests")
	f.IntVar(&o.replicas, "replicas", 3, "servers at the same time")
	f.IntVar(&o.rounds, "rounds", 2, "how often each is replaced")
	f.IntVar(&o.clients, "clients", 64, "clients of the load")
	f.DurationVar(&o.duration, "time", 45*time.Second, "how long the load goes on; all restarts must fit in")
	f.DurationVar(&o.drain, "drain-delay", 3*time.Second, "the servers' --drain-delay")
	f.DurationVar(&o.probe, "probe", time.Second, "how often the balancer asks each server whether it is ready")
	if err := tool.Parse(f, args); err != nil {
		return o, err
	}
	if o.replicas < 1 || o.rounds < 1 || o.clients < 1 || o.duration < time.Second || o.probe <= 0 {
		return o, errors.New("all flags must be positive")
	}
	return o, nil
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	o, err := parse(args)
	if err != nil {
		return err
	}
	base, err := tool.TempDir("carve-rolling-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(base)) }()
	db, err := devdb.Start(ctx, devdb.Config{DataDir: filepath.Join(base, "data"), MaxConnections: 200})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Stop(context.WithoutCancel(ctx))) }()
	if said, err := exec.CommandContext(ctx, o.ipamctl, "migrate", "--database-url="+db.DSN(), "--region=local").CombinedOutput(); err != nil { //nolint:gosec // the program under test
		return fmt.Errorf("ipamctl migrate: %w\n%s", err, said)
	}
	b, err := newBalancer(ctx, o.probe)
	if err != nil {
		return err
	}
	defer b.close()
	f := &fleet{options: o, dsn: db.DSN(), balancer: b, out: out}
	defer func() { err = errors.Join(err, f.stop()) }()
	for range o.replicas {
		if err := f.add(ctx); err != nil {
			return err
		}
	}
	return underLoad(ctx, o, b, f, db.DSN(), out)
}

// underLoad replaces all servers under load. It returns the result of the load.
func underLoad(ctx context.Context, o options, b *balancer, f *fleet, dsn string, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	load := exec.CommandContext(ctx, o.load, o.scenario) //nolint:gosec // a script of this repository
	load.Cancel = func() error { return load.Process.Signal(syscall.SIGINT) }
	load.Stdout, load.Stderr = out, os.Stderr
	load.Env = append(os.Environ(),
		"CARVE_SERVER="+(&url.URL{Scheme: "http", Host: b.addr()}).String(), "CARVE_DATABASE_URL="+dsn, "LOAD_PROFILE=short", "LOAD_KEEP=1",
		"LOAD_CLIENTS="+strconv.Itoa(o.clients), "LOAD_DURATION="+o.duration.String(),
		"LOAD_SLACK=1000", // this run does not judge latency
	)
	if err := load.Start(); err != nil {
		return err
	}
	judged := make(chan error, 1)
	go func() { judged <- load.Wait() }()
	if err := b.awaitConnections(ctx, o.clients); err != nil {
		return err
	}
	for range o.rounds * o.replicas {
		if err := f.replace(ctx); err != nil {
			cancel()
			return errors.Join(err, <-judged)
		}
	}
	select {
	case err := <-judged:
		return errors.Join(errors.New("the load ended before the last server was replaced: give it more -time"), err)
	default:
	}
	_, _ = fmt.Fprintf(out, "%d servers replaced, %d connections made through the balancer, %d of them to a server that was not there\n",
		o.rounds*o.replicas, b.made.Load(), b.refused.Load())
	if err := <-judged; err != nil {
		return fmt.Errorf("the load's promises do not hold: %w", err)
	}
	return nil
}
