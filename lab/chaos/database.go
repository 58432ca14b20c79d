package chaos

import (
	"context"
	"crypto/rand"
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

// Binaries are the paths of the programs under test.
type Binaries struct {
	Server  string
	Skewed  string // the same server, built with an adjustable clock (package skew)
	Ipamctl string
}

// cluster is a database server that successive runs share. It is a PostgreSQL, or an external CockroachDB. Each run has its own database on it.
type cluster struct {
	url      string // URL of the CockroachDB; if empty, the harness starts a PostgreSQL
	dir      string
	programs Binaries

	mu        sync.Mutex
	db        *devdb.DB
	templates map[string]string // migrated databases to copy, by their list of regions
	made      int
}

// maxSessions is enough for the sessions of three servers and the checks. Killed servers also leave sessions behind.
const maxSessions = 150

func startCluster(ctx context.Context, url, dir string, programs Binaries) (*cluster, error) {
	c := &cluster{url: url, dir: dir, programs: programs, templates: map[string]string{}}
	if url != "" {
		return c, os.Mkdir(dir, 0o700)
	}
	err := c.up(ctx)
	return c, err
}

func (c *cluster) up(ctx context.Context) (err error) {
	c.db, err = devdb.Start(ctx, devdb.Config{DataDir: c.dir, Volatile: true, MaxConnections: maxSessions})
	return err
}

// restart stops the database immediately, without a checkpoint, and starts it again.
func (c *cluster) restart(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, cancel := context.WithCancel(ctx)
	cancel() // stop without waiting for a clean shutdown
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
	if c.url != "" {
		return os.RemoveAll(c.dir)
	}
	return errors.Join(c.db.Stop(ctx), devdb.Remove(c.dir))
}

// create creates a database for servers in the given regions and migrates its schema.
func (c *cluster) create(ctx context.Context, regions []string) (dsn string, err error) {
	if c.url != "" { // CockroachDB cannot copy a database, so each run migrates its own
		return c.migrated(ctx, "chaos_"+strings.ToLower(rand.Text()), regions)
	}
	template, err := c.template(ctx, regions)
	if err != nil {
		return "", err
	}
	c.made++
	name := fmt.Sprintf("run_%d", c.made)
	if err := c.execute(ctx, "CREATE DATABASE "+name+" TEMPLATE "+template+" STRATEGY FILE_COPY"); err != nil {
		return "", err
	}
	// The cluster never syncs to disk. That is safe, because only processes are killed. But without this setting, a COMMIT does not even wait until
	// its log is written. An immediate stop of the database would then lose acknowledged transactions.
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
	how := " WITH (FORCE)"
	if c.url != "" {
		how = " CASCADE"
	}
	return c.execute(ctx, "DROP DATABASE IF EXISTS "+strings.TrimPrefix(u.Path, "/")+how)
}

// template returns the name of a database that is migrated for these regions. The first call for a list of regions makes it.
func (c *cluster) template(ctx context.Context, regions []string) (string, error) {
	key := strings.Join(distinct(regions), ",")
	if name, made := c.templates[key]; made {
		return name, nil
	}
	name := fmt.Sprintf("template_%d", len(c.templates))
	if _, err := c.migrated(ctx, name, regions); err != nil {
		return "", err
	}
	c.templates[key] = name
	return name, nil
}

// migrated creates a database and migrates it for these regions with ipamctl, as operators do.
func (c *cluster) migrated(ctx context.Context, name string, regions []string) (dsn string, err error) {
	if err := c.execute(ctx, "CREATE DATABASE "+name); err != nil {
		return "", err
	}
	if dsn, err = c.at(name); err != nil {
		return "", err
	}
	list := strings.Join(distinct(regions), ",")
	args := []string{"migrate", "--database-url=" + dsn, "--region=" + list}
	if strings.Contains(list, ",") {
		args[2] = "--regions=" + list
	}
	if out, err := c.ipamctl(ctx, args...); err != nil {
		return dsn, fmt.Errorf("ipamctl migrate: %w\n%s", err, out)
	}
	return dsn, nil
}

func (c *cluster) ipamctl(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.programs.Ipamctl, args...) //nolint:gosec // the program under test
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(c.dir, "nobody")}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// dsn returns the DSN of the server's first database.
func (c *cluster) dsn() string {
	if c.url != "" {
		return c.url
	}
	return c.db.DSN()
}

func (c *cluster) at(name string) (string, error) {
	u, err := url.Parse(c.dsn())
	if err != nil {
		return "", err
	}
	u.Path = "/" + name
	return u.String(), nil
}

func (c *cluster) execute(ctx context.Context, sql string) error {
	conn, err := pgx.Connect(ctx, c.dsn())
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
