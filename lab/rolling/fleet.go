package rolling

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/carve-ipam/carve/lab/serverproc"
)

// patience is the time that a server may take to end after its drain delay. It is longer than the server's limit for requests in progress.
const patience = 40 * time.Second

// fleet lists the running servers, oldest first.
type fleet struct {
	options
	dsn      string
	balancer *balancer
	out      io.Writer
	servers  []*replica
	made     int
}

// replica is a running server.
type replica struct {
	*serverproc.Server
	name string
}

// add starts a server and returns when the balancer passes connections to it.
func (f *fleet) add(ctx context.Context) error {
	f.made++
	r := &replica{name: fmt.Sprintf("server-%d", f.made)}
	var err error
	r.Server, err = serverproc.Start(ctx, serverproc.Options{
		Program: f.server,
		Args: []string{
			"--auth=dev", "--log-level=warn", "--rate-limit-reads=0", "--rate-limit-writes=0", "--database-url=" + f.dsn, "--drain-delay=" + f.drain.String(),
		},
		Log: os.Stderr, Limit: patience,
	})
	if err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	f.servers = append(f.servers, r)
	f.balancer.add(r.Addr())
	return f.balancer.awaitReady(ctx, r.Addr())
}

// replace starts a server and then stops the oldest one. It does not inform the balancer, which must notice by its probes.
func (f *fleet) replace(ctx context.Context) error {
	if err := f.add(ctx); err != nil {
		return err
	}
	oldest := f.servers[0]
	f.servers = f.servers[1:]
	began := time.Now()
	err := oldest.terminate()
	f.balancer.remove(oldest.Addr())
	_, _ = fmt.Fprintf(f.out, "%s took the place of %s, which ended in %.1f s\n", f.servers[len(f.servers)-1].name, oldest.name, time.Since(began).Seconds())
	return err
}

// stop stops the remaining servers.
func (f *fleet) stop() error {
	var errs []error
	for _, r := range f.servers {
		errs = append(errs, r.terminate())
	}
	f.servers = nil
	return errors.Join(errs...)
}

// terminate stops a server and waits for a clean end.
func (r *replica) terminate() error {
	if err := r.Stop(); err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	return nil
}
