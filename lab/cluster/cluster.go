package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/carve-ipam/carve/lab/loopback"
	"github.com/carve-ipam/carve/lab/serverproc"
)

// cluster is the set of nodes that this program starts.
type cluster struct {
	bin   string
	dir   string
	nodes []*node
}

// node is one CockroachDB process in its own region.
type node struct {
	*serverproc.Process
	region  string
	address string // host:port, for SQL and for the other nodes
	log     string // file with its output
}

func (n *node) url() string {
	return "postgresql://root@" + n.address + "/defaultdb?sslmode=disable"
}

// waiter waits until a node responds. Its error explains why the node did not respond.
type waiter func(ctx context.Context, n *node) error

const (
	pollEvery = 200 * time.Millisecond
	stopLimit = time.Minute
)

// start starts all nodes, so that they join each other. Then one command initialises the cluster.
func (c *cluster) start(ctx context.Context, regions []string, await waiter) error {
	addresses, err := loopback.Free(ctx, len(regions))
	if err != nil {
		return err
	}
	for i, region := range regions {
		n := &node{region: region, address: addresses[i], log: filepath.Join(c.dir, region+".log")}
		if err := c.spawn(n, nodeArgs(n, addresses, c.dir)); err != nil {
			return fmt.Errorf("cannot start a node: %w", err)
		}
	}
	if err := c.until(ctx, func(ctx context.Context) error { return c.initialise(ctx, addresses[0]) }); err != nil {
		return fmt.Errorf("the nodes do not make a cluster: %w", err)
	}
	for _, n := range c.nodes {
		if err := c.until(ctx, func(ctx context.Context) error { return await(ctx, n) }); err != nil {
			return fmt.Errorf("the node in %s does not answer: %w", n.region, err)
		}
	}
	return nil
}

// nodeArgs returns a node's command line. The node stores its data in memory, listens on loopback, and is in its region.
func nodeArgs(n *node, join []string, dir string) []string {
	return []string{
		"start", "--insecure",
		"--listen-addr=" + n.address, "--advertise-addr=" + n.address, "--http-addr=127.0.0.1:0",
		"--join=" + strings.Join(join, ","),
		"--locality=region=" + n.region,
		"--store=type=mem,size=1GiB", "--cache=128MiB", "--max-sql-memory=256MiB", "--max-go-memory=2GiB",
		"--max-offset=250ms",
		"--log-dir=" + filepath.Join(dir, n.region),
	}
}

func (c *cluster) spawn(n *node, args []string) error {
	log, err := os.Create(n.log)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()  // the process has its own copy of the file
	cmd := exec.Command(c.bin, args...) //nolint:gosec,noctx // an operator's flag; stopped by stop, in order
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, log, log
	cmd.Env = append(os.Environ(), "COCKROACH_SKIP_ENABLING_DIAGNOSTIC_REPORTING=true")
	if n.Process, err = serverproc.Spawn(cmd, stopLimit); err != nil {
		return err
	}
	c.nodes = append(c.nodes, n)
	return nil
}

// initialise initialises the cluster. An earlier attempt that got no response may have done so already.
func (c *cluster) initialise(ctx context.Context, address string) error {
	out, err := exec.CommandContext(ctx, c.bin, "init", "--insecure", "--host="+address).CombinedOutput() //nolint:gosec // an operator's flag
	if err != nil && !strings.Contains(string(out), "already been initialized") {
		return fmt.Errorf("init: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// until repeats try until try succeeds, a node ends, or the context ends.
func (c *cluster) until(ctx context.Context, try func(ctx context.Context) error) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		if dead := c.alive(); dead != nil {
			return errors.Join(dead, err)
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-tick.C:
		}
	}
}

// alive returns an error if a node has ended.
func (c *cluster) alive() error {
	for _, n := range c.nodes {
		select {
		case <-n.Ended():
			return fmt.Errorf("the node in %s ended: %w", n.region, cmp.Or(n.Wait(), errSuccess))
		default:
		}
	}
	return nil
}

var errSuccess = errors.New("exit status 0")

// stop stops all nodes at the same time and waits until they have drained.
func (c *cluster) stop() error {
	var all errgroup.Group
	for _, n := range c.nodes {
		all.Go(func() error {
			if err := n.Stop(); errors.Is(err, serverproc.ErrKilled) {
				return fmt.Errorf("the node in %s: %w", n.region, err)
			}
			return nil // the log contains errors of other kinds
		})
	}
	return all.Wait()
}

// logs returns the end of each node's output.
func (c *cluster) logs() string {
	var all strings.Builder
	for _, n := range c.nodes {
		text, err := os.ReadFile(n.log)
		if err != nil {
			text = []byte(err.Error())
		}
		fmt.Fprintf(&all, "--- %s\n%s\n", n.region, text[max(0, len(text)-2000):])
	}
	return all.String()
}

// answers checks that a node responds and is in the expected region.
func answers(ctx context.Context, n *node) error {
	c, err := pgx.Connect(ctx, n.url())
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	var region string
	if err := c.QueryRow(ctx, "SELECT gateway_region()").Scan(&region); err != nil {
		return err
	}
	if region != n.region {
		return fmt.Errorf("it is in %q", region)
	}
	return nil
}
