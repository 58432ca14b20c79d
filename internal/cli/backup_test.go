package cli_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/app"
	"github.com/carve-ipam/carve/internal/backup"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/devdb"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// bootstrapped returns a database that an operator has set up.
func bootstrapped(t *testing.T, d *double) (dsn string) {
	t.Helper()
	if dbtest.Engine() != devdb.Postgres {
		t.Skip("pg_dump and pg_restore are PostgreSQL's; this run is on", dbtest.Engine())
	}
	dsn = dbtest.New(t)
	d.done("migrate", "--database-url", dsn)
	_, err := app.Bootstrap(t.Context(), dsn, "local")
	require.NoError(t, err)
	idle(t, dsn)
	return dsn
}

// idle waits until the database has noticed that all earlier sessions have ended.
func idle(t *testing.T, dsn string) {
	t.Helper()
	require.Eventually(t, func() bool { return backup.Idle(t.Context(), dsn) == nil }, time.Minute, 10*time.Millisecond)
}

func TestBackupIsRestoredAndAudited(t *testing.T) {
	t.Parallel()
	d := operating(t)
	source, target := bootstrapped(t, d), dbtest.New(t) // the target is empty and not even migrated
	dir := filepath.Join(t.TempDir(), "backup")
	var m backup.Manifest
	require.NoError(t, json.Unmarshal([]byte(d.done("backup", "--database-url", source, "--to", dir, "-o", "json").out), &m))
	require.Equal(t, []string{"local"}, m.Regions)
	require.Equal(t, schema.Version(), m.Schema)
	require.Equal(t, backup.PostgreSQL, m.Engine)
	require.False(t, m.TakenAt.IsZero())

	r := d.done("restore", "--database-url", target, "--from", dir)
	require.Contains(t, r.out, "audit clean\n")
	require.Contains(t, r.err, "restored: the state of ")
	require.Contains(t, r.err, "new epochs: 0")
	require.Contains(t, d.done("audit", "--database-url", target).out, "audit clean\n")

	idle(t, target)
	r = d.run("restore", "--database-url", target, "--from", dir)
	require.Equal(t, 4, r.code, "it holds the key that was made")
	require.Contains(t, r.err, "api_keys")
	require.Contains(t, r.err, "--replace")
	require.Empty(t, r.out)
	require.Contains(t, d.done("restore", "--database-url", target, "--from", dir, "--replace").out, "audit clean\n")
	idle(t, target)
	r = d.run("restore", "--database-url", target, "--from", dir, "--replace", "--regions", "eu-west,us-east")
	require.Equal(t, 4, r.code)
	require.Contains(t, r.err, "the regions differ")

	r = d.done("backup", "--database-url", source, "--to", dir+"-2")
	require.Contains(t, r.out, "SCHEMA")
	require.Empty(t, d.done("backup", "--database-url", source, "--to", dir+"-3", "-q").out)
}

// If a backup has inconsistent data, the restore does not change the data, and the command reports the problems.
func TestRestoreOfInconsistentDataFailsItsAudit(t *testing.T) {
	t.Parallel()
	d := operating(t)
	source, dir := bootstrapped(t, d), filepath.Join(t.TempDir(), "backup")
	loseABlock(t, source)
	d.done("backup", "--database-url", source, "--to", dir)
	r := d.run("restore", "--database-url", dbtest.New(t), "--from", dir)
	require.Equal(t, 1, r.code)
	require.Contains(t, r.out, "INVARIANT")
	require.Contains(t, r.err, "restored with problems: ")
}

// The two versions (epochs) of a pool differ if a restore took them from different times. Such a pool stays fenced off, which means that it serves no
// claims.
func TestRestoreKeepsFencedPoolsFenced(t *testing.T) {
	t.Parallel()
	d := operating(t)
	d.database.RenewEpochs = func(context.Context, string) (crdb.Epochs, error) {
		return crdb.Epochs{Renewed: 3, Fenced: []string{"8d1f… in eu-west"}}, nil
	}
	source, dir := bootstrapped(t, d), filepath.Join(t.TempDir(), "backup")
	d.done("backup", "--database-url", source, "--to", dir)
	r := d.run("restore", "--database-url", dbtest.New(t), "--from", dir)
	require.Equal(t, 1, r.code)
	require.Contains(t, r.err, "fenced off, because its two epochs differ: pool 8d1f… in eu-west")
}

// After a restore with other tools, the operator runs `restored`. The command makes all data invalid that a server read before.
func TestRestoredVerbRenewsEpochsAfterAnExternalRestore(t *testing.T) {
	t.Parallel()
	d := operating(t)
	dsn := bootstrapped(t, d)
	renewed := 0
	renew := d.database.RenewEpochs
	d.database.RenewEpochs = func(ctx context.Context, dsn string) (crdb.Epochs, error) {
		renewed++
		return renew(ctx, dsn)
	}
	r := d.done("restored", "--database-url", dsn)
	require.Contains(t, r.err, "new epochs: 0")
	require.Contains(t, r.out, "audit clean\n")
	require.Equal(t, 1, renewed)

	s, err := crdb.Open(t.Context(), dsn, crdb.Options{Region: "local"}) // like a running server
	require.NoError(t, err)
	r = d.run("restored", "--database-url", dsn)
	s.Close()
	idle(t, dsn)
	require.Equal(t, 4, r.code)
	require.Contains(t, r.err, "a server is running on the database")
	require.Equal(t, 1, renewed, "and nothing was changed")

	loseABlock(t, dsn)
	r = d.run("restored", "--database-url", dsn)
	require.Equal(t, 1, r.code)
	require.Contains(t, r.out, "INVARIANT")
}

func TestRestoreIntoADataDirectoryNeedsAStoppedServer(t *testing.T) {
	t.Parallel()
	d := operating(t)
	source, dir, data := bootstrapped(t, d), filepath.Join(t.TempDir(), "backup"), t.TempDir()
	d.done("backup", "--database-url", source, "--to", dir)
	require.Contains(t, d.done("restore", "--data-dir", data, "--from", dir).out, "audit clean\n")

	db, err := devdb.Start(t.Context(), devdb.Config{DataDir: data}) // like a running server
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Stop(context.WithoutCancel(t.Context()))) }()
	c, err := pgx.Connect(t.Context(), db.DSN())
	require.NoError(t, err)
	var keys int
	require.NoError(t, c.QueryRow(t.Context(), "SELECT count(*) FROM api_keys").Scan(&keys))
	require.Equal(t, 1, keys)
	require.NoError(t, c.Close(t.Context()))

	r := d.run("restore", "--data-dir", data, "--from", dir, "--replace")
	require.Equal(t, 4, r.code)
	require.Contains(t, r.err, "stop the server first")
	r = d.done("backup", "--data-dir", data, "--to", dir+"-of-data") // works while a server runs
	require.Contains(t, r.out, "carve")
}

// If the backup directory is wrong, the command creates no database.
func TestRestoreChecksTheBackupBeforeCreatingADatabase(t *testing.T) {
	t.Parallel()
	d, data := operating(t), filepath.Join(t.TempDir(), "data")
	d.database.Start = func(context.Context, string) (string, func(context.Context) error, error) {
		t.Error("a database was made")
		return "", nil, context.Canceled
	}
	from := filepath.Join(t.TempDir(), "none")
	r := d.run("restore", "--data-dir", data, "--from", from)
	require.Equal(t, 1, r.code)
	require.Contains(t, r.err, from)
	require.NoDirExists(t, data)
}

func TestBackupIntoANonemptyDirectoryIsRefused(t *testing.T) {
	t.Parallel()
	d, to := operating(t), t.TempDir()
	source := bootstrapped(t, d)
	d.done("backup", "--database-url", source, "--to", filepath.Join(to, "first"))
	r := d.run("backup", "--database-url", source, "--to", to)
	require.Equal(t, 2, r.code)
	require.Contains(t, r.err, "error: "+to+" exists and is not an empty directory: use a separate directory for each backup\n")
}

func TestMissingBackupFlagsAreNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ args, want string }{
		"NowhereToGo":      {"backup --database-url a", "no target is given"},
		"NothingToRestore": {"restore --database-url a", "no backup is given"},
		"NoDatabase":       {"restore --from a", "no database is given"},
		"ABackupsName":     {"backup --to a --database-url a -o name", "a backup has no name"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := operating(t)
			r := d.run(strings.Fields(c.args)...)
			require.Equal(t, 2, r.code, r.err)
			require.Contains(t, r.err, c.want)
		})
	}
	d := operating(t)
	for _, verb := range [][]string{{"backup", "--to", t.TempDir()}, {"restore", "--from", t.TempDir()}} {
		r := d.run(append(verb, "--database-url", "postgres://carve:hunter2@127.0.0.1:1/carve")...)
		require.NotZero(t, r.code)
		require.NotContains(t, r.err, "hunter2")
	}
}
