package dbtest

import (
	"context"
	"fmt"
	"os/exec"

	"github.com/cockroachdb/cockroach-go/v2/testserver"
)

// cockroach is a CockroachDB, the user's own or one started here.
type cockroach struct {
	url     string
	migrate func(ctx context.Context, dsn string) error
	stop    func() // nil for the user's own
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

func (c *cockroach) create(ctx context.Context, name string) (string, error) {
	dsn, err := at(c.url, name)
	if err != nil {
		return "", err
	}
	if err := execute(ctx, c.url, "CREATE DATABASE "+name); err != nil {
		return "", err
	}
	return dsn, c.migrate(ctx, dsn)
}

func (c *cockroach) drop(ctx context.Context, name string) error {
	return execute(ctx, c.url, "DROP DATABASE IF EXISTS "+name+" CASCADE")
}

func (c *cockroach) close(context.Context) error {
	if c.stop != nil {
		c.stop()
	}
	return nil
}
