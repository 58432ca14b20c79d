package dbtest_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/devdb"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// migrations counts the runs of the fake migrations.
var migrations atomic.Int32

func TestMain(m *testing.M) {
	dbtest.Main(m, dbtest.Config{Migrate: func(ctx context.Context, dsn string) error {
		migrations.Add(1)
		conn, err := pgx.Connect(ctx, dsn)
		if err != nil {
			return err
		}
		defer conn.Close(ctx)
		_, err = conn.Exec(ctx, "CREATE TABLE marks (mark INT PRIMARY KEY)")
		return err
	}})
}

func connect(t testing.TB, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func TestEachTestGetsItsOwnMigratedDatabase(t *testing.T) {
	t.Parallel()
	for range 8 {
		t.Run("SameRowInEach", func(t *testing.T) {
			t.Parallel()
			conn := connect(t, dbtest.New(t))
			_, err := conn.Exec(t.Context(), "INSERT INTO marks VALUES (1)")
			require.NoError(t, err)
		})
	}
}

func TestTemplateIsMigratedOnce(t *testing.T) {
	t.Parallel()
	dbtest.New(t)
	dbtest.New(t)
	require.EqualValues(t, 1, migrations.Load())
}

func TestDatabaseIsDroppedWithItsTestDespiteConnections(t *testing.T) {
	t.Parallel()
	if dbtest.Engine() != devdb.Postgres {
		t.Skip("on CockroachDB a database may be emptied for the next test instead")
	}
	admin := connect(t, dbtest.New(t))
	var name string
	t.Run("Uses", func(t *testing.T) {
		conn, err := pgx.Connect(t.Context(), dbtest.New(t)) // the test never closes it
		require.NoError(t, err)
		name = conn.Config().Database
	})
	gone := func() bool {
		var there bool
		err := admin.QueryRow(t.Context(), "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_database WHERE datname = $1)", name).Scan(&there)
		require.NoError(t, err)
		return !there
	}
	require.True(t, gone())
}

// On CockroachDB, a new database takes seconds, so tests reuse the databases of earlier tests.
func TestReusedDatabaseIsEmptied(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 20 {
		t.Run("Uses", func(t *testing.T) {
			conn := connect(t, dbtest.New(t))
			names = append(names, conn.Config().Database)
			var rows int
			require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM marks").Scan(&rows))
			require.Zero(t, rows)
			_, err := conn.Exec(t.Context(), "INSERT INTO marks VALUES ($1)", i)
			require.NoError(t, err)
		})
	}
	slices.Sort(names)
	require.Equal(t, dbtest.Engine() == devdb.Cockroach, len(slices.Compact(names)) < 20)
}

func TestDatabaseWithAChangedSchemaIsNotReused(t *testing.T) {
	t.Parallel()
	t.Run("Changes", func(t *testing.T) {
		_, err := connect(t, dbtest.New(t)).Exec(t.Context(), "ALTER TABLE marks ADD COLUMN more INT")
		require.NoError(t, err)
	})
	for range 20 { // emptying takes time, and meanwhile tests use other databases
		t.Run("Uses", func(t *testing.T) {
			var columns int
			require.NoError(t, connect(t, dbtest.New(t)).QueryRow(t.Context(),
				"SELECT count(*) FROM information_schema.columns WHERE table_name = 'marks' AND column_name = 'more'").Scan(&columns))
			require.Zero(t, columns)
		})
	}
}

func TestIsolationIsSerializableByDefault(t *testing.T) {
	t.Parallel()
	var level string
	require.NoError(t, connect(t, dbtest.New(t)).QueryRow(t.Context(), "SHOW transaction_isolation").Scan(&level))
	require.Equal(t, "serializable", level)
}

func TestEngineFollowsTheEnvironment(t *testing.T) {
	for _, c := range []struct {
		engine, url string
		want        devdb.Engine
	}{
		{"", "", devdb.Postgres},
		{"postgres", "", devdb.Postgres},
		{"cockroach", "", devdb.Cockroach},
		{"", "postgresql://root@127.0.0.1:26257/defaultdb", devdb.Cockroach},
	} {
		t.Setenv(dbtest.EnvEngine, c.engine)
		t.Setenv(dbtest.EnvURL, c.url)
		require.Equal(t, c.want, dbtest.Engine(), c)
	}
}

// again runs one test of this binary in another process, with its own temporary directory.
func again(t *testing.T, tmp, test string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+test+"$", "-test.v")
	cmd.Env = append(append(os.Environ(), "TMPDIR="+tmp, "CARVE_DBTEST_AGAIN=1", dbtest.EnvEngine+"=", dbtest.EnvURL+"="), env...)
	return cmd
}

// TestHoldsADatabaseUntilItIsKilled runs in the processes that other tests start. In a normal run it does nothing.
func TestHoldsADatabaseUntilItIsKilled(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	if os.Getenv("CARVE_DBTEST_AGAIN") != "" {
		fmt.Printf("\nholding %s\n", dsn)
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
}

func TestKilledTestProcessLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	tmp := t.TempDir()
	clusters := func() []string {
		found, err := filepath.Glob(filepath.Join(tmp, "carve-dbtest-*", "run-*"))
		require.NoError(t, err)
		return found
	}
	victim := again(t, tmp, "TestHoldsADatabaseUntilItIsKilled")
	stdin, err := victim.StdinPipe()
	require.NoError(t, err)
	defer stdin.Close()
	stdout, err := victim.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, victim.Start())
	dsn := ""
	for lines := bufio.NewScanner(stdout); dsn == "" && lines.Scan(); {
		_, _ = fmt.Sscanf(lines.Text(), "holding %s", &dsn)
	}
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	require.NoError(t, victim.Process.Kill())
	_ = victim.Wait()
	require.Len(t, clusters(), 1, "it could not clean up")
	_, err = conn.Exec(t.Context(), "SELECT pg_sleep(3600)")
	require.Error(t, err, "its database goes down by itself")

	// If the killed process's database is still shutting down, the next process leaves its directory to a later one.
	require.Eventually(t, func() bool {
		out, err := again(t, tmp, "TestIsolationIsSerializableByDefault").CombinedOutput()
		require.NoError(t, err, string(out))
		return len(clusters()) == 0
	}, 5*time.Minute, 10*time.Millisecond)
}

func TestMissingCockroachIsAClearError(t *testing.T) {
	t.Parallel()
	out, err := again(t, t.TempDir(), "TestIsolationIsSerializableByDefault",
		dbtest.EnvEngine+"=cockroach", "PATH="+t.TempDir()).CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "needs a `cockroach` binary on PATH, or CRDB_URL")
}

func TestMisspelledEngineIsAClearError(t *testing.T) {
	t.Parallel()
	out, err := again(t, t.TempDir(), "TestIsolationIsSerializableByDefault", dbtest.EnvEngine+"=mysql").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "neither postgres nor cockroach: mysql")
}
