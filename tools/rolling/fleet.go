package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// patience is how long a server may take to end beyond its drain delay: what it gives the requests that are running, and more.
const patience = 40 * time.Second

// fleet is the servers that are there, the oldest first.
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
	name string
	cmd  *exec.Cmd
	addr string
	done chan error
}

// add starts a server and returns when connections go to it.
func (f *fleet) add(ctx context.Context) error {
	f.made++
	r := &replica{name: fmt.Sprintf("server-%d", f.made), done: make(chan error, 1)}
	r.cmd = exec.Command(f.server, "--listen=127.0.0.1:0", "--auth=dev", "--log-level=warn", "--rate-limit-reads=0", "--rate-limit-writes=0", //nolint:gosec,noctx // the program under test; it is stopped by a signal
		"--database-url="+f.dsn, "--drain-delay="+f.drain.String())
	r.cmd.Stderr = os.Stderr
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the terminal's Ctrl-C is not for them
	stdout, err := r.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := r.cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewReader(stdout)
	first, _ := lines.ReadString('\n')
	go func() {
		_, _ = io.Copy(io.Discard, lines)
		r.done <- r.cmd.Wait()
	}()
	r.addr = strings.TrimSpace(strings.TrimPrefix(first, "listening on "))
	if r.addr == "" {
		return fmt.Errorf("%s did not start: %w", r.name, <-r.done)
	}
	f.servers = append(f.servers, r)
	f.balancer.add(r.addr)
	return f.balancer.awaitReady(ctx, r.addr)
}

// replace starts a server and then stops the oldest one, which the balancer is not told of.
func (f *fleet) replace(ctx context.Context) error {
	if err := f.add(ctx); err != nil {
		return err
	}
	oldest := f.servers[0]
	f.servers = f.servers[1:]
	began := time.Now()
	err := oldest.terminate()
	f.balancer.remove(oldest.addr)
	_, _ = fmt.Fprintf(f.out, "%s took the place of %s, which ended in %.1f s\n", f.servers[len(f.servers)-1].name, oldest.name, time.Since(began).Seconds())
	return err
}

// stop ends what is left.
func (f *fleet) stop() error {
	var errs []error
	for _, r := range f.servers {
		errs = append(errs, r.terminate())
	}
	f.servers = nil
	return errors.Join(errs...)
}

// terminate asks a server to stop and waits until it has, properly.
func (r *replica) terminate() error {
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case err := <-r.done:
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		return nil
	case <-time.After(patience):
		return errors.Join(fmt.Errorf("%s did not end", r.name), r.cmd.Process.Kill(), <-r.done)
	}
}
