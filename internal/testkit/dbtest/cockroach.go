package dbtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/cockroach-go/v2/testserver"
)

// cockroach is a CockroachDB cluster. Either the user provides it, or it is one node that this process has started.
type cockroach struct {
	url     string
	migrate func(ctx context.Context, dsn string) error
	stop    func() // nil for a cluster that the user provides

	once   sync.Once
	schema schemaCopy
	err    error
	ends   sync.WaitGroup        // cleanups of databases whose tests have ended
	failed atomic.Pointer[error] // error of a drop

	mu    sync.Mutex
	made  map[string]emptied // state of the databases when they were new, by name
	empty []emptied          // databases for later tests
}

// startCockroach starts a node in memory. It looks for the binary itself, because testserver would download a missing binary.
func startCockroach(cfg Config) (server, error) {
	binary, err := exec.LookPath("cockroach")
	if err != nil {
		return nil, fmt.Errorf("%s=cockroach needs a `cockroach` binary on PATH, or %s: %w", EnvEngine, EnvURL, err)
	}
	node, err := testserver.NewTestServer(
		testserver.CockroachBinaryPathOpt(binary),
		testserver.ListenAddrHostOpt("127.0.0.1"),
		testserver.LocalityFlagsOpt("region=local"), // without a region there are no region types
	)
	if err != nil {
		return nil, err
	}
	return &cockroach{url: node.PGURL().String(), migrate: cfg.Migrate, stop: node.Stop}, nil
}

// create reuses an emptied database of an earlier test. If there is none, it makes a database with a copy of a migrated schema. The migrations run
// only once.
func (c *cockroach) create(ctx context.Context, name string) (string, error) {
	c.once.Do(func() { c.err = c.readTemplate(ctx) })
	if c.err != nil {
		return "", fmt.Errorf("migrating the template: %w", c.err)
	}
	if left, ok := c.reuse(name); ok {
		return left.dsn, nil
	}
	dsn, err := at(c.url, name)
	if err != nil {
		return "", err
	}
	if err := execute(ctx, c.url, c.schema.database(name)); err != nil {
		return "", err
	}
	if err := c.schema.fill(ctx, dsn); err != nil {
		return "", err
	}
	return dsn, c.note(ctx, name, dsn)
}

func (c *cockroach) readTemplate(ctx context.Context) error {
	name := "carve_test_template_" + strings.ToLower(rand.Text())
	dsn, err := at(c.url, name)
	if err != nil {
		return err
	}
	if err := execute(ctx, c.url, "CREATE DATABASE "+name); err != nil {
		return err
	}
	defer c.discard(context.WithoutCancel(ctx), name) // close returns its error
	if err := c.migrate(ctx, dsn); err != nil {
		return err
	}
	c.schema, err = readSchema(ctx, dsn)
	return err
}

// drop empties a database for a later test if its schema is unchanged, and otherwise discards it. It works in the background. If the database is in
// several regions, drop waits. A new database in several regions takes a minute, and the next test can then use the emptied one.
func (c *cockroach) drop(ctx context.Context, name string) error {
	ctx = context.WithoutCancel(ctx)
	end := func() {
		if !c.recycle(ctx, name) && c.stop == nil { // a node of our own disappears with all its databases
			c.discard(ctx, name)
		}
	}
	if c.schema.multiRegion() {
		end()
	} else {
		c.ends.Go(end)
	}
	return nil
}

// discard drops a database. The database stays visible for some seconds, until CockroachDB begins to remove its data.
func (c *cockroach) discard(ctx context.Context, name string) {
	c.mu.Lock()
	if was, ok := c.made[name]; ok {
		delete(c.made, name)
		name = was.database
	}
	c.mu.Unlock()
	if err := execute(ctx, c.url, "DROP DATABASE IF EXISTS "+name+" CASCADE"); err != nil {
		c.failed.Store(&err)
	}
}

func (c *cockroach) close(ctx context.Context) error {
	if c.stop != nil {
		c.stop()
		return nil
	}
	c.ends.Wait()
	for _, left := range c.empty {
		c.discard(ctx, left.database)
	}
	if err := c.failed.Load(); err != nil {
		return *err
	}
	return nil
}
