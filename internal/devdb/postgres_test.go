package devdb

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

func TestFirstStartCreatesAWorkingDatabase(t *testing.T) {
	t.Parallel()
	db := start(t, filepath.Join(t.TempDir(), "not", "there", "yet"))

	require.Equal(t, "carve", ask(t, db, "SELECT current_database()"))
	require.Equal(t, Postgres, db.Engine())
	require.NoError(t, db.Err())
}

func TestDataSurvivesARestart(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	db := start(t, dir)
	ask(t, db, remember)
	require.NoError(t, db.Stop(t.Context()))
	ended(t, db)
	require.NoError(t, db.Err(), "an end that was asked for is no failure")
	require.NoError(t, db.Stop(t.Context()), "stopping twice is harmless")

	require.Equal(t, "kept", ask(t, start(t, dir), recall))
}

func TestDataDirectoryMayBeMoved(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	db := start(t, seeded(t, filepath.Join(base, "here")))
	ask(t, db, remember)
	require.NoError(t, db.Stop(t.Context()))
	require.NoError(t, os.Rename(filepath.Join(base, "here"), filepath.Join(base, "there")))

	require.Equal(t, "kept", ask(t, start(t, filepath.Join(base, "there")), recall))
}

// show checks settings of a running database.
func show(t *testing.T, db *DB, want map[string]string) {
	t.Helper()
	for name, value := range want {
		require.Equal(t, value, ask(t, db, "SHOW "+name), name)
	}
}

func TestDatabaseSettings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := start(t, dir)
	t.Run("DurableAndSerializable", func(t *testing.T) {
		show(t, db, map[string]string{
			"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "data_checksums": "on",
			"default_transaction_isolation": "serializable", "max_connections": "100", "max_pred_locks_per_transaction": "256",
		})
	})
	t.Run("WithoutAPort", func(t *testing.T) {
		show(t, db, map[string]string{"listen_addresses": "", "unix_socket_permissions": "0700"})
	})
	t.Run("TheSameInEveryLanguage", func(t *testing.T) {
		show(t, db, map[string]string{"server_encoding": "UTF8", "timezone": "UTC"})
		require.Equal(t, "t", ask(t, db, "SELECT 'Z' < 'a' AND 'z' < 'ä'"), "text sorts by code point")
	})
	t.Run("OutOfReachOfTerminalSignals", func(t *testing.T) {
		group, err := syscall.Getpgid(db.proc.pid())
		require.NoError(t, err)
		require.NotEqual(t, syscall.Getpgrp(), group, "Ctrl-C goes to the process group of the server")
	})
	t.Run("SilentAboutFailedStatements", func(t *testing.T) {
		_, err := askAt(t.Context(), db.DSN(), "SELECT 1/0")
		require.Error(t, err)
		require.NoError(t, db.Stop(t.Context()))
		text, err := os.ReadFile(filepath.Join(dir, postgresLog))
		require.NoError(t, err)
		require.Contains(t, string(text), "shut down")
		require.NotContains(t, string(text), "division by zero")
	})
}

func TestVolatileOnlyDisablesFsync(t *testing.T) {
	t.Parallel()
	db, err := Start(t.Context(), Config{DataDir: dataDir(t), Volatile: true, MaxConnections: 33})
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Stop(context.Background()) })
	show(t, db, map[string]string{"fsync": "off", "max_connections": "33", "default_transaction_isolation": "serializable"})
}

func TestStopEndsOpenTransactions(t *testing.T) {
	t.Parallel()
	db := start(t, dataDir(t))
	conn, err := pgx.Connect(t.Context(), db.DSN())
	require.NoError(t, err)
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), "BEGIN; CREATE TABLE unfinished ()")
	require.NoError(t, err)

	require.NoError(t, db.Stop(t.Context()))
	ended(t, db)
	require.Error(t, conn.Ping(t.Context()))
}

func TestStopWithAnEndedContextStillStops(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	db := start(t, dir)
	ask(t, db, remember)
	hurry, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, db.Stop(hurry))
	ended(t, db)

	require.Equal(t, "kept", ask(t, start(t, dir), recall))
}

func TestInterruptedInitialisationIsRestarted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	half := filepath.Join(dir, newClusterName)
	require.NoError(t, os.Mkdir(half, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(half, "PG_VERSION"), []byte("15\n"), 0o600))

	ask(t, start(t, dir), remember)
	require.NoDirExists(t, half)
}

func TestCancelledStartLeavesTheDirectoryFree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	never, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Start(never, Config{DataDir: dir})
	require.ErrorIs(t, err, context.Canceled)

	ask(t, start(t, dir), remember)
}

func TestLargeLogIsRotated(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := filepath.Join(dir, postgresLog)
	require.NoError(t, os.WriteFile(log, nil, 0o600))
	require.NoError(t, os.Truncate(log, logLimit+1))
	start(t, dir)

	old, err := os.Stat(log + ".1")
	require.NoError(t, err)
	require.EqualValues(t, logLimit+1, old.Size())
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Contains(t, string(text), "ready to accept connections")
}
