package devdb

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKilledDatabaseIsNoticedAndRecovers(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	db := start(t, dir)
	ask(t, db, remember)
	require.NoError(t, syscall.Kill(db.proc.pid(), syscall.SIGKILL))

	ended(t, db)
	require.ErrorContains(t, db.Err(), "ended by itself")
	require.ErrorContains(t, db.Err(), "killed")
	require.NoError(t, db.Stop(t.Context()))
	require.Error(t, db.Err(), "Stop does not hide how it ended")

	require.Equal(t, "kept", ask(t, start(t, dir), recall))
}

// serveAndRemember starts a server in another process, and writes a row to its database.
func serveAndRemember(t *testing.T, role, dir string) *actor {
	t.Helper()
	server := enact(t, role, dir, nil)
	require.Empty(t, server.Err)
	_, err := askAt(t.Context(), server.DSN, remember)
	require.NoError(t, err)
	return server
}

func TestDatabaseOfAKilledServerShutsDownByItself(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	server := serveAndRemember(t, "serve", dir)
	server.kill()

	eventually(t, "the kernel tells the database", func() bool { return !lives(server.Postgres) })
	require.NoFileExists(t, filepath.Join(dir, clusterName, "postmaster.pid"), "it shut down properly")
	require.Equal(t, "kept", ask(t, start(t, dir), recall))
}

func TestStartRightAfterTheServerWasKilled(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	server := serveAndRemember(t, "serve", dir)
	server.kill() // the test does not wait for the database to end

	require.Equal(t, "kept", ask(t, start(t, dir), recall))
	require.False(t, lives(server.Postgres), "never two databases on one directory")
}

func TestOrphanedDatabaseIsStoppedNotReused(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	server := serveAndRemember(t, "serve-untied", dir)
	server.kill()
	require.True(t, lives(server.Postgres), "nobody told the database")
	_, err := askAt(t.Context(), server.DSN, recall)
	require.NoError(t, err, "it still serves")

	db := start(t, dir)
	require.False(t, lives(server.Postgres))
	require.Equal(t, "kept", ask(t, db, recall))
}

func TestStartWaitsForOrphansOfAKilledPostmaster(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	server := serveAndRemember(t, "serve-untied", dir)
	server.kill()
	// This kills only the postmaster. Its child processes remain and hold the lock.
	require.NoError(t, syscall.Kill(server.Postgres, syscall.SIGKILL))

	require.Equal(t, "kept", ask(t, start(t, dir), recall))
}

func TestKilledServerAndDatabaseRecover(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	server := serveAndRemember(t, "serve", dir)
	require.NoError(t, syscall.Kill(server.Postgres, syscall.SIGKILL))
	server.kill()

	require.Equal(t, "kept", ask(t, start(t, dir), recall))
}

// staleCluster returns a directory whose database was killed, so that its postmaster.pid remains.
func staleCluster(t *testing.T) (dir, pidFile string) {
	t.Helper()
	dir = dataDir(t)
	db := start(t, dir)
	ask(t, db, remember)
	require.NoError(t, syscall.Kill(db.proc.pid(), syscall.SIGKILL))
	ended(t, db)
	require.NoError(t, db.Stop(t.Context()))
	pidFile = filepath.Join(dir, clusterName, "postmaster.pid")
	require.FileExists(t, pidFile)
	return dir, pidFile
}

// The test simulates the restart of a container, where process ids start from 1 again.
func TestProcessIDOfTheDeadDatabaseMayBelongToAnotherProgram(t *testing.T) {
	t.Parallel()
	dir, pidFile := staleCluster(t)
	other := start(t, dataDir(t)) // a live process of the same user, which PostgreSQL would take for the owner of the file
	text, err := os.ReadFile(pidFile)
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(text), "\n")
	require.NoError(t, os.WriteFile(pidFile, []byte(strconv.Itoa(other.proc.pid())+"\n"+rest), 0o600))

	require.Equal(t, "kept", ask(t, start(t, dir), recall))
	require.NoError(t, other.Err(), "the other program is left alone")
}

// The test simulates a power cut in the middle of a start. The locks prove that no database runs.
func TestEmptyProcessIDFileIsRecoveredFrom(t *testing.T) {
	t.Parallel()
	dir, pidFile := staleCluster(t)
	for _, text := range []string{"", "\n", "nonsense\n"} {
		require.NoError(t, os.WriteFile(pidFile, []byte(text), 0o600))
		db := start(t, dir)
		require.Equal(t, "kept", ask(t, db, recall), "%q", text)
		require.NoError(t, db.Stop(t.Context()))
	}
}

func TestPostgreSQLStartedByHandIsNotStopped(t *testing.T) {
	t.Parallel()
	dir, _ := staleCluster(t)
	h, err := openDirectory(dir)
	require.NoError(t, err)
	h.engine, err = os.Open(os.DevNull) // without the lock, unlike a database of Carve
	require.NoError(t, err)
	h.account, err = h.accountFor(clusterName)
	require.NoError(t, err)
	bin, err := h.findPostgres(t.Context(), 0)
	require.NoError(t, err)
	socketDir, err := h.makeSocketDir()
	require.NoError(t, err)
	byHand, err := h.servePostgres(bin, socketDir, Config{MaxConnections: 10})
	require.NoError(t, err)
	t.Cleanup(func() { _ = byHand.stop(context.Background(), testLog(t)) })
	dsn, err := makeReady(t.Context(), byHand, func(name string) string { return postgresDSN(socketDir, name) }, "postgres")
	require.NoError(t, err)
	require.NoError(t, h.close())

	_, err = Start(t.Context(), Config{DataDir: dir})
	require.ErrorIs(t, err, ErrForeign)
	word, err := askAt(t.Context(), dsn, recall)
	require.NoError(t, err)
	require.Equal(t, "kept", word)
}
