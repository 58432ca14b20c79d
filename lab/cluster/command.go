// Package cluster runs a command on a temporary CockroachDB cluster. The cluster has three nodes on loopback. Each node is in its own region and
// stores its data in memory. `make test-crdb-cluster` uses the package. The command runs once for each node, with these environment variables:
//
//	CRDB_URL           the node for this run of the command
//	CRDB_URLS          all nodes, as region=URL, separated by commas
//	CARVE_TEST_ENGINE  cockroach
//
// If a command fails, the program still runs the commands for the remaining nodes. Before it ends, it stops each process that it started: with
// SIGTERM to its id, and with SIGKILL after a minute.
package cluster

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/carve-ipam/carve/lab/tool"
)

// regions are the regions of the nodes. The database tests store their rows in the first region.
var regions = []string{"local", "eu", "us"}

// Run runs the command.
func Run(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("cluster", flag.ContinueOnError)
	bin := f.String("cockroach", "cockroach", "the `PROGRAM` to start, by path or name")
	first := f.String("first", "", "shell `COMMAND` to run on the first node")
	others := f.String("others", "", "shell `COMMAND` to run on each of the others; empty: the first's")
	if err := tool.Parse(f, args); err != nil {
		return err
	}
	if *first == "" {
		return errors.New("-first says what is run")
	}
	if *others == "" {
		*others = *first
	}
	return run(ctx, *bin, []string{*first, *others, *others}, answers)
}

const startLimit = 3 * time.Minute

// run starts the cluster, runs one command for each node, and stops the cluster. await waits until a node responds.
func run(ctx context.Context, bin string, commands []string, await waiter) (err error) {
	if bin, err = exec.LookPath(bin); err != nil {
		return fmt.Errorf("no CockroachDB: %w", err)
	}
	if bin, err = filepath.Abs(bin); err != nil { // the nodes have another working directory
		return err
	}
	dir, err := os.MkdirTemp("", "carve-crdb-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	c := &cluster{bin: bin, dir: dir}
	defer func() { err = errors.Join(err, c.stop()) }()
	starting, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	if err := c.start(starting, regions, await); err != nil {
		return fmt.Errorf("%w\n%s", err, c.logs())
	}
	for i, n := range c.nodes {
		fmt.Fprintf(os.Stderr, "cluster: through the node in %s: %s\n", n.region, commands[i])
		command := exec.CommandContext(ctx, "sh", "-c", commands[i]) //nolint:gosec // whoever calls says what is to be run
		command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
		command.WaitDelay = stopLimit
		command.Stdout, command.Stderr = os.Stdout, os.Stderr
		command.Env = append(os.Environ(), "CARVE_TEST_ENGINE=cockroach", "CRDB_URL="+n.url(), "CRDB_URLS="+c.urls())
		failed := command.Run()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("through the node in %s: %w", n.region, failed))
		}
		if dead := c.alive(); dead != nil {
			return errors.Join(err, fmt.Errorf("%w\n%s", dead, c.logs()))
		}
	}
	return err
}

// urls returns the URLs of all nodes, for tests that need more than one node.
func (c *cluster) urls() string {
	all := make([]string, len(c.nodes))
	for i, n := range c.nodes {
		all[i] = n.region + "=" + n.url()
	}
	return strings.Join(all, ",")
}
