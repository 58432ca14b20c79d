package chaos

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/devdb"
)

// Binaries are the programs under test.
type Binaries struct {
	Server  string
	Skewed  string // the same server, built so that its clock can be off (package skew)
	Ipamctl string
}

// cluster is a PostgreSQL that runs share one after another, each with a database of its own.
type cluster struct {
	dir      string
	programs Binaries

	mu        sync.Mutex
	db        *devdb.DB
	templates map[string]string // by regions
	made      int
}

// maxSessions is enough for three servers, what they leave behind when they are killed, and the checks.
const maxSessions = 150

func startCluster(ctx context.Context, dir string, programs Binaries) (*cluster, error) {
	c := &cluster{dir: dir, programs: programs, templates: map[string]string{}}
	err := c.up(ctx)
	return c, err
}

func (c *cluster) up(ctx context.Context) (err error) {
	c.db, err = devdb.Start(ctx, devdb.Config{DataDir: c.dir, Volatile: true, MaxConnections: maxSessions})
	return err
}

// restart ends the database at once, without a checkpoint, and starts it again.
func (c *cluster) restart(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, cancel := context.WithCancel(ctx)
	cancel() // no patience with a proper shutdown
	if err := c.db.Stop(now); err != nil {
		return err
	}
	was := c.db.DSN()
	if err := c.up(ctx); err != nil {
		return err
	}
	if c.db.DSN() != was {
		return fmt.Errorf("the database moved from %s to %s", was, c.db.DSN())
	}
	return nil
}

func (c *cluster) close(ctx context.Context) error {
	return errors.Join(c.db.Stop(ctx), devdb.Remove(c.dir))
}

// create makes a migrated database for servers in some regions.
func (c *cluster) create(ctx context.Context, regions []string) (dsn string, err error) {
	template, err := c.template(ctx, regions)
	if err != nil {
		return "", err
	}
	c.made++
	name := fmt.Sprintf("run_%d", c.made)
	if err := c.execute(ctx, "CREATE DATABASE "+name+" TEMPLATE "+template+" STRATEGY FILE_COPY"); err != nil {
		return "", err
	}
	// The cluster syncs nothing to disk, which a killed process survives: but it does not wait for its log to be written
	// at all either, and then a database that is ended at once forgets what it has acknowledged.
	if err := c.execute(ctx, "ALTER DATABASE "+name+" SET synchronous_commit = on"); err != nil {
		return "", err
	}
	return c.at(name)
}

func (c *cluster) drop(ctx context.Context, dsn string) error {
	u, err := url.Parse(dsn)
	if err != nil {
		return err
	}
	return c.execute(ctx, "DROP DATABASE IF EXISTS "+strings.TrimPrefix(u.Path, "/")+" WITH (FORCE)")
}

// template is a database that was migrated for these regions, by the program that operators use.
func (c *cluster) template(ctx context.Context, regions []string) (string, error) {
	key := strings.Join(distinct(regions), ",")
	if name, made := c.templates[key]; made {
		return name, nil
	}
	name := fmt.Sprintf("template_%d", len(c.templates))
	if err := c.execute(ctx, "CREATE DATABASE "+name); err != nil {
		return "", err
	}
	dsn, err := c.at(name)
	if err != nil {
		return "", err
	}
	args := []string{"migrate", "--database-url=" + dsn, "--region=" + key}
	if strings.Contains(key, ",") {
		args[2] = "--regions=" + key
	}
	if out, err := c.ipamctl(ctx, args...); err != nil {
		return "", fmt.Errorf("ipamctl migrate: %w\n%s", err, out)
	}
	c.templates[key] = name
	return name, nil
}

func (c *cluster) ipamctl(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.programs.Ipamctl, args...) //nolint:gosec // the program under test
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(c.dir, "nobody")}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (c *cluster) at(name string) (string, error) {
	u, err := url.Parse(c.db.DSN())
	if err != nil {
		return "", err
	}
	u.Path = "/" + name
	return u.String(), nil
}

func (c *cluster) execute(ctx context.Context, sql string) error {
	conn, err := pgx.Connect(ctx, c.db.DSN())
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql)
	return errors.Join(err, conn.Close(ctx))
}

func distinct(list []string) (out []string) {
	seen := map[string]bool{}
	for _, s := range list {
		if !seen[s] {
			seen[s], out = true, append(out, s)
		}
	}
	return out
}
