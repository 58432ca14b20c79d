package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/app"
	"github.com/carve-ipam/carve/internal/cli/operate"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/devdb"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// The databases of these tests are empty at first, because the tests run the migrations themselves.
func TestMain(m *testing.M) { dbtest.Main(m, dbtest.Config{}) }

// operating returns a command line with real access to databases.
func operating(t *testing.T) *double {
	t.Helper()
	d := answering(t)
	d.env, d.database = map[string]string{}, operate.RealDatabase()
	d.database.Bootstrap = app.Bootstrap // the same function as in cmd/ipamctl
	d.database.Retain = func(ctx context.Context, dsn string, events, holds time.Duration) (operate.Retained, error) {
		done, err := app.Retain(ctx, dsn, events, holds)
		return operate.Retained(done), err
	}
	return d
}

func TestMigratedDatabasePassesTheAudit(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	d := operating(t)
	require.Equal(t, "regions of the database: local\n"+allApplied(t)+rolesMade(t, dsn)+"the schema is up to date\n", d.done("migrate", "--database-url", dsn).err)
	d.env["CARVE_DATABASE_URL"] = dsn
	d.done("migrate", "-q") // a second run changes nothing

	r := d.done("audit")
	require.Contains(t, r.out, "audit clean\n")
	require.Regexp(t, `(?s)\n\d+ invariants hold: alerts, aligned, borrowed, .*tiling, utilization, webhooks\naudit clean\n$`, r.out)
	r = d.done("audit", "-o", "wide")
	require.Regexp(t, `\ntiling +the free, held and lent blocks of every container `, r.out)
	require.Contains(t, r.out, "\nreservations ")
	var doc struct {
		Clean    bool
		Checked  map[string]int64
		Findings []any
	}
	require.NoError(t, json.Unmarshal([]byte(d.done("audit", "-o", "json").out), &doc))
	require.True(t, doc.Clean)
	require.Contains(t, doc.Checked, "free_blocks")
	require.Empty(t, doc.Findings)
	require.Empty(t, d.done("audit", "--quiet").out)
}

func TestAuditWithFindingsFails(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	d := operating(t)
	d.env["CARVE_DATABASE_URL"] = dsn
	d.done("migrate")
	loseABlock(t, dsn)

	r := d.run("audit")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.out, "INVARIANT")
	require.NotContains(t, r.out, "audit clean")
	require.Regexp(t, `^audit: \d+ findings?\n$`, r.err)

	r = d.run("audit", "-o", "json")
	require.Equal(t, 1, r.code)
	var doc struct {
		Clean    bool
		Findings []struct{ Invariant, Container, Detail string }
	}
	require.NoError(t, json.Unmarshal([]byte(r.out), &doc))
	require.False(t, doc.Clean)
	require.NotEmpty(t, doc.Findings[0].Invariant)
	require.NotEmpty(t, doc.Findings[0].Detail)
}

// loseABlock inserts a free block without a container.
func loseABlock(t *testing.T, dsn string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close(context.WithoutCancel(t.Context()))) }()
	_, err = c.Exec(t.Context(), `insert into free_blocks (region, container_id, host_bits, base) values ('local', gen_random_uuid(), 24, '\x0a000000')`)
	require.NoError(t, err)
}

func TestUnreachableDatabaseIsNotAnAuditFinding(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	away := fmt.Sprintf("postgres://carve@%s/carve?connect_timeout=5", l.Addr())
	require.NoError(t, l.Close())
	d := operating(t)
	for verb, want := range map[string]string{
		"audit": "cannot connect to the database", "migrate": "cannot connect to the database", "bootstrap": "connection refused",
	} {
		r := d.run(verb, "--database-url", away)
		require.Equal(t, 5, r.code, verb)
		require.Contains(t, r.err, want)
		require.Empty(t, r.out)
	}
}

func TestDatabasePasswordIsNotPrinted(t *testing.T) {
	t.Parallel()
	d := operating(t)
	for _, dsn := range []string{"postgres://carve:hunter2@127.0.0.1:1/carve", "postgres://carve:hunter2@127.0.0.1:port/carve"} {
		for _, verb := range []string{"audit", "migrate", "bootstrap"} {
			r := d.run(verb, "--database-url", dsn)
			require.NotZero(t, r.code)
			require.NotContains(t, r.err, "hunter2", verb)
		}
	}
}

func TestRunningDatabaseIsFoundByItsDataDirectory(t *testing.T) {
	t.Parallel()
	d := operating(t)
	dir := t.TempDir()
	r := d.run("audit", "--data-dir", dir)
	require.Equal(t, 5, r.code)
	require.Contains(t, r.err, devdb.ErrNotRunning.Error())

	// Package devdb finds the database of a data directory, and has its own tests. This test only checks that the audit uses the result.
	dsn := dbtest.New(t)
	require.NoError(t, schema.Migrate(t.Context(), dsn, schema.MigrateOptions{Regions: []string{"local"}}))
	d.database.Find = func(asked string) (string, error) {
		require.Equal(t, dir, asked)
		return dsn, nil
	}
	d.env["CARVE_DATA_DIR"] = dir
	require.Contains(t, d.done("audit").out, "audit clean")
}
