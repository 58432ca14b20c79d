// Command crdbcluster runs a command on a CockroachDB cluster of its own: three nodes on loopback, each in a region, in memory. It is what
// `make test-crdb-cluster` runs. The command runs once for each node, with its address in the environment:
//
//	CRDB_URL           the node that the command is to talk to
//	CRDB_URLS          all nodes, as region=URL, with a comma between
//	CARVE_TEST_ENGINE  cockroach
//
// Whatever happens, every process that was started here is stopped before the program ends: SIGTERM by its id, and SIGKILL after a minute.
// The exit code is the first command's that was not 0, 1 when the cluster itself failed, 2 when there is
// no CockroachDB to start.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// regions of the cluster. The first is the one that the database tests have their rows in.
var regions = []string{"local", "east", "west"}

func main() {
	bin := flag.String("cockroach", "cockroach", "the `PROGRAM` to start, by path or name")
	first := flag.String("first", "", "shell `COMMAND` to run on the first node")
	others := flag.String("others", "", "shell `COMMAND` to run on each of the others; empty: the first's")
	flag.Parse()
	if *first == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if *others == "" {
		*others = *first
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, *bin, []string{*first, *others, *others}, answers)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "crdbcluster:", err)
	}
	os.Exit(code)
}

const startLimit = 3 * time.Minute

// run starts the cluster, runs a command on each node, and stops what it started. await waits until a node answers.
func run(ctx context.Context, bin string, commands []string, await waiter) (code int, err error) {
	if bin, err = exec.LookPath(bin); err != nil {
		return 2, fmt.Errorf("no CockroachDB: %w", err)
	}
	if bin, err = filepath.Abs(bin); err != nil { // the nodes work in a directory of their own
		return 2, err
	}
	dir, err := os.MkdirTemp("", "carve-crdb-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	c := &cluster{bin: bin, dir: dir}
	defer func() {
		if stopped := c.stop(); stopped != nil {
			code, err = max(code, 1), errors.Join(err, stopped)
		}
	}()
	starting, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	if err := c.start(starting, regions, await); err != nil {
		return 1, fmt.Errorf("%w\n%s", err, c.logs())
	}
	for i, n := range c.nodes {
		fmt.Fprintf(os.Stderr, "crdbcluster: through the node in %s: %s\n", n.region, commands[i])
		command := exec.CommandContext(ctx, "sh", "-c", commands[i]) //nolint:gosec // whoever calls says what is to be run
		command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
		command.WaitDelay = stopLimit
		command.Stdout, command.Stderr = os.Stdout, os.Stderr
		command.Env = append(os.Environ(), "CARVE_TEST_ENGINE=cockroach", "CRDB_URL="+n.url(), "CRDB_URLS="+c.urls())
		switch failed := command.Run(); {
		case ctx.Err() != nil:
			return 1, ctx.Err()
		case failed != nil:
			code = max(code, 1)
			if command.ProcessState != nil && code == 1 {
				code = max(command.ProcessState.ExitCode(), 1)
			}
		}
		if err := c.alive(); err != nil {
			return max(code, 1), fmt.Errorf("%w\n%s", err, c.logs())
		}
	}
	return code, nil
}

// urls are all nodes, for tests that need more than one.
func (c *cluster) urls() string {
	all := make([]string, len(c.nodes))
	for i, n := range c.nodes {
		all[i] = n.region + "=" + n.url()
	}
	return strings.Join(all, ",")
}
