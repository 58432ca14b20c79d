package e2e

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/app"
	"github.com/carve-ipam/carve/internal/crdb/audit"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// project is the project that most tests use.
const project = "acme"

// world is one service on its own database, with a project and a caller.
type world struct {
	*caller
	dsn string

	sql *pgx.Conn // direct connection to the database; only one goroutine at a time may use it
}

func newWorld(t testing.TB, c *caller, dsn string) *world {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close(context.Background())) })
	return &world{caller: c, dsn: dsn, sql: conn}
}

// setup makes a world. At the end of the test, the service stops and the audit checks each invariant.
func setup(t testing.TB, flags ...string) *world {
	t.Helper()
	w := setupEmpty(t, flags...)
	w.created(t, w.do(t, http.MethodPost, "/v1/projects", obj{"metadata": obj{"name": project}}))
	return w
}

// setupEmpty makes a world in which only the platform's own project exists.
func setupEmpty(t testing.TB, flags ...string) *world {
	t.Helper()
	dsn := database(t)
	return newWorld(t, newCaller(serve(t, dsn, flags...)), dsn)
}

// database makes an empty database. When everything that uses the database has stopped at the end of the test, the audit checks it. It has the region
// of the tests and the additional regions in others.
func database(t testing.TB, others ...string) (dsn string) {
	t.Helper()
	if len(others) > 0 {
		dbtest.NeedsRegions(t)
	}
	dsn = dbtest.New(t)
	if len(others) > 0 {
		require.NoError(t, schema.Migrate(t.Context(), dsn, schema.MigrateOptions{Regions: append([]string{region}, others...)}))
	}
	t.Cleanup(func() { auditClean(t, dsn) })
	return dsn
}

func auditClean(t testing.TB, dsn string) {
	t.Helper()
	report, err := audit.Run(context.Background(), dsn)
	require.NoError(t, err)
	require.Empty(t, report.Findings, "the audit")
}

// serve starts the service in this process on a free loopback port and returns its address. Later flags override earlier ones.
func serve(t testing.TB, dsn string, flags ...string) (addr string) {
	t.Helper()
	a := start(t, dsn, t.Output(), flags...)
	t.Cleanup(func() {
		require.NoError(t, a.Close(context.Background()))
	})
	return a.Addr()
}

// start does the same as serve. Tests that stop the service themselves or read its log use it.
func start(t testing.TB, dsn string, log io.Writer, flags ...string) *app.App {
	t.Helper()
	if !slices.ContainsFunc(flags, func(f string) bool { return strings.HasPrefix(f, "--auth=") }) {
		flags = append([]string{"--auth=dev"}, flags...)
	}
	// On a busy machine, no request may miss its deadline, unless the test is about deadlines.
	key := filepath.Join(t.TempDir(), "webhook-key")
	require.NoError(t, os.WriteFile(key, []byte(strings.Repeat("k", 32)), 0o600))
	args := append([]string{
		"--webhook-key-file=" + key,
		"--listen=127.0.0.1:0", "--database-url=" + asServer(t, dsn), "--request-timeout=60s", "--max-connections=12", "--log-level=warn",
	}, flags...)
	config, _, err := app.ParseConfig(args, nil)
	require.NoError(t, err)
	a, err := app.Start(t.Context(), config, log)
	require.NoError(t, err)
	return a
}

// The longest wait for a condition, and the interval between two checks.
const (
	waitLimit = 5 * time.Minute
	tick      = 10 * time.Millisecond
)
