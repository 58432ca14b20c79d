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

// cockroach is a CockroachDB, the user's own or one started here.
type cockroach struct {
	url     string
	migrate func(ctx context.Context, dsn string) error
	stop    func() // nil for the user's own

	once   sync.Once
	schema schemaCopy
	err    error
	drops  sync.WaitGroup
	failed atomic.Pointer[error] // of a drop
}

// startCockroach starts a node in memory. The binary is looked for here because
// testserver would download one where it finds none.
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

// create copies the schema of a database that is migrated once.
func (c *cockroach) create(ctx context.Context, name string) (string, error) {
	c.once.Do(func() { c.err = c.readTemplate(ctx) })
	if c.err != nil {
		return "", fmt.Errorf("migrating the template: %w", c.err)
	}
	dsn, err := at(c.url, name)
	if err != nil {
		return "", err
	}
	if err := execute(ctx, c.url, c.schema.database(name)); err != nil {
		return "", err
	}
	return dsn, c.schema.fill(ctx, dsn)
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
	defer func() { _ = c.drop(ctx, name) }() // what goes wrong is told at the end
	if err := c.migrate(ctx, dsn); err != nil {
		return err
	}
	c.schema, err = readSchema(ctx, dsn)
	return err
}

// drop does not wait: the database is gone for everybody when the job that takes its ranges away has begun, and that takes seconds. A node of our own
// goes as a whole.
func (c *cockroach) drop(ctx context.Context, name string) error {
	if c.stop != nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	c.drops.Go(func() {
		if err := execute(ctx, c.url, "DROP DATABASE IF EXISTS "+name+" CASCADE"); err != nil {
			c.failed.Store(&err)
		}
	})
	return nil
}

func (c *cockroach) close(context.Context) error {
	if c.stop != nil {
		c.stop()
		return nil
	}
	c.drops.Wait()
	if err := c.failed.Load(); err != nil {
		return *err
	}
	return nil
}
