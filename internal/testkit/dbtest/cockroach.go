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

// cockroach is a CockroachDB: the user's own, or a node that this process started.
type cockroach struct {
	url       string
	stop      func() // nil for the user's own
	templates map[string]*template[schemaCopy]

	ends   sync.WaitGroup        // cleanups of databases whose tests have ended
	failed atomic.Pointer[error] // error of a drop

	mu    sync.Mutex
	made  map[string]emptied // databases as they were made, by name
	empty []emptied          // databases for later tests
}

// startCockroach starts a node in memory. It looks for the binary itself, because
// testserver would download a missing one.
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
	return &cockroach{url: node.PGURL().String(), templates: templatesOf[schemaCopy](cfg), stop: node.Stop}, nil
}

// create reuses an emptied database of an earlier test, or makes one with a copy of the schema of a template that is migrated once.
func (c *cockroach) create(ctx context.Context, name, kind string) (string, error) {
	schema, err := stateOf(ctx, c.templates, kind, c.readTemplate)
	if err != nil {
		return "", err
	}
	if left, ok := c.reuse(name, kind); ok {
		return left.dsn, nil
	}
	dsn, err := dsnOf(c.url, name)
	if err != nil {
		return "", err
	}
	if err := execute(ctx, c.url, schema.database(name)); err != nil {
		return "", err
	}
	if err := schema.fill(ctx, dsn); err != nil {
		return "", err
	}
	return dsn, c.note(ctx, emptied{database: name, dsn: dsn, kind: kind, copied: schema})
}

func (c *cockroach) readTemplate(ctx context.Context, t *template[schemaCopy]) (schema schemaCopy, err error) {
	name := "carve_template_" + strings.ToLower(rand.Text())
	dsn, err := dsnOf(c.url, name)
	if err != nil {
		return schema, err
	}
	if err := execute(ctx, c.url, "CREATE DATABASE "+name); err != nil {
		return schema, err
	}
	defer c.discard(ctx, name) // close returns its error
	if err := t.migrate(ctx, dsn); err != nil {
		return schema, err
	}
	return readSchema(ctx, dsn)
}

// drop empties a database for a later test if its schema is unchanged, and otherwise discards it. It works in the background, except for a database
// in several regions. Such a database takes a minute to make, so drop waits, and the next test then finds the emptied database.
func (c *cockroach) drop(ctx context.Context, name string) error {
	ctx = context.WithoutCancel(ctx)
	c.mu.Lock()
	was, ok := c.made[name]
	c.mu.Unlock()
	end := func() {
		if (!ok || !c.recycle(ctx, name, was)) && c.stop == nil { // a node of our own disappears with all its databases
			c.discard(ctx, name)
		}
	}
	if was.copied.multiRegion() {
		end()
	} else {
		c.ends.Go(end)
	}
	return nil
}

// discard drops a database. The database stays visible until the job that removes its ranges has begun, which takes seconds.
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
