package dbtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carve-ipam/carve/internal/devdb"
)

// The environment variables that choose an engine.
const (
	EnvEngine = "CARVE_TEST_ENGINE" // "postgres" (or empty) or "cockroach"
	EnvURL    = "CRDB_URL"          // a CockroachDB to use instead of starting one
	EnvURLs   = "CRDB_URLS"         // all nodes of its cluster, as region=URL,region=URL; set by `make test-crdb-cluster`
)

// Config describes the databases of a package's tests.
type Config struct {
	// Migrate brings an empty database to the current schema. It must close its connections before it returns. If Migrate is nil, the databases are
	// empty.
	Migrate func(ctx context.Context, dsn string) error
	// Kinds has a Migrate for databases of other kinds, by the name of the kind.
	Kinds map[string]func(ctx context.Context, dsn string) error
	// MaxConnections limits the sessions of all tests of the process together; 0 means 200. PostgreSQL only.
	MaxConnections int
}

// server is a database server with a database for each test.
type server interface {
	// create makes a migrated database of a kind.
	create(ctx context.Context, name, kind string) (dsn string, err error)
	// drop removes a database, even if it is incomplete or has open connections.
	drop(ctx context.Context, name string) error
	close(ctx context.Context) error
}

// suite holds the state that all tests of this process share.
var suite struct {
	cfg   *Config // nil until Main
	start sync.Once
	server
	err error
}

// Timeouts for the start and the stop of a server.
const (
	startLimit = 3 * time.Minute
	stopLimit  = time.Minute
)

// Main runs the tests of a package and exits. The server is started by the first [New].
func Main(m *testing.M, cfg Config) {
	suite.cfg = &cfg
	code := m.Run()
	if err := stopServer(); err != nil {
		fmt.Fprintln(os.Stderr, "dbtest: the test database did not stop cleanly:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func stopServer() error {
	if suite.server == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	return suite.close(ctx)
}

// Engine returns the engine of this test run.
func Engine() devdb.Engine {
	if os.Getenv(EnvURL) != "" || os.Getenv(EnvEngine) == string(devdb.Cockroach) {
		return devdb.Cockroach
	}
	return devdb.Postgres
}

// New makes a migrated database for the test and returns its DSN. After the test it drops the database and cuts its open sessions; on CockroachDB
// it may empty the database for another test instead.
func New(t testing.TB) (dsn string) {
	t.Helper()
	return NewOf(t, "")
}

// NewOf makes a database of a kind, as New does for the default kind.
func NewOf(t testing.TB, kind string) (dsn string) {
	t.Helper()
	if suite.cfg == nil {
		t.Fatal("dbtest: call dbtest.Main in the TestMain of this package")
	}
	suite.start.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), startLimit)
		defer cancel()
		suite.server, suite.err = startServer(ctx, *suite.cfg)
	})
	if suite.err != nil {
		t.Fatalf("dbtest: %v", suite.err)
	}
	name := "carve_test_" + strings.ToLower(rand.Text())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
		defer cancel()
		if err := suite.drop(ctx, name); err != nil {
			t.Errorf("dbtest: dropping the database: %v", err)
		}
	})
	dsn, err := suite.create(t.Context(), name, kind)
	if err != nil {
		t.Fatalf("dbtest: making a database: %v", err)
	}
	return dsn
}

// NeedsRegions skips a test of several regions on a CockroachDB with one region. PostgreSQL accepts any region name, but CockroachDB accepts only the
// regions of its nodes.
func NeedsRegions(t testing.TB) {
	t.Helper()
	if Engine() == devdb.Cockroach && os.Getenv(EnvURLs) == "" {
		t.Skip("needs nodes in several regions: make test-crdb-cluster")
	}
}

func startServer(ctx context.Context, cfg Config) (server, error) {
	if cfg.Migrate == nil {
		cfg.Migrate = func(context.Context, string) error { return nil }
	}
	if cfg.MaxConnections == 0 {
		cfg.MaxConnections = 200
	}
	switch engine := os.Getenv(EnvEngine); {
	case os.Getenv(EnvURL) != "":
		return &cockroach{url: os.Getenv(EnvURL), templates: templatesOf[schemaCopy](cfg)}, nil
	case engine == string(devdb.Cockroach):
		return startCockroach(cfg)
	case engine == "" || engine == string(devdb.Postgres):
		return startPostgres(ctx, cfg)
	default:
		return nil, errors.New(EnvEngine + " is neither postgres nor cockroach: " + engine)
	}
}
