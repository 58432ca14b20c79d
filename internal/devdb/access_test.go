package devdb

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// nobody is a user other than the test's.
var nobody = &syscall.Credential{Uid: 65534, Gid: 65534}

// socketOf returns the socket directory of a database.
func socketOf(t *testing.T, dsn string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	require.NoError(t, err)
	return u.Query().Get("host")
}

// ownedByNobody returns a data directory and the user that owns it. If the test runs as root, that is nobody. Otherwise it is the test's user, and
// nil is returned.
func ownedByNobody(t *testing.T) (string, *syscall.Credential) {
	t.Helper()
	dir := filepath.Join(sharedDir(t), "data")
	require.NoError(t, os.Mkdir(dir, 0o700))
	if os.Geteuid() != 0 {
		return dir, nil
	}
	require.NoError(t, os.Chown(dir, int(nobody.Uid), int(nobody.Gid)))
	return dir, nobody
}

func TestRunsAsAnOrdinaryUser(t *testing.T) {
	t.Parallel()
	dir, who := ownedByNobody(t)
	server := enact(t, "serve", dir, who)
	require.Empty(t, server.Err)
	require.NotZero(t, server.UID)
	_, err := askAt(t.Context(), server.DSN, remember)
	require.NoError(t, err)
	server.dismiss()
	require.False(t, lives(server.Postgres))

	again := enact(t, "serve", dir, who)
	require.Empty(t, again.Err)
	word, err := askAt(t.Context(), again.DSN, recall)
	require.NoError(t, err)
	require.Equal(t, "kept", word)
	again.kill()

	// The next server finds the data, too. If the test runs as root, the server runs PostgreSQL as the owner of the cluster, and leaves all files
	// usable for the owner.
	db := start(t, dir)
	require.Equal(t, "kept", ask(t, db, recall))
	require.NoError(t, db.Stop(t.Context()))
	last := enact(t, "serve", dir, who)
	require.Empty(t, last.Err)
}

func TestNeverRunsAsRoot(t *testing.T) {
	t.Parallel()
	db := start(t, dataDir(t))
	fi, err := os.Stat(fmt.Sprintf("/proc/%d", db.proc.pid()))
	require.NoError(t, err)
	st := fi.Sys().(*syscall.Stat_t)
	require.NotZero(t, st.Uid)
	if os.Geteuid() != 0 {
		require.EqualValues(t, os.Geteuid(), st.Uid)
	}
}

// The data directory may lie in a directory that other users may not enter, such as /root or a test's temporary directory.
func TestParentDirectoriesMayBeClosedToTheDatabaseUser(t *testing.T) {
	t.Parallel()
	closed := filepath.Join(t.TempDir(), "closed")
	require.NoError(t, os.Mkdir(closed, 0o700))
	dir := filepath.Join(closed, "data")
	db := start(t, dir)
	ask(t, db, remember)
	require.NoError(t, db.Stop(t.Context()))
	require.Equal(t, "kept", ask(t, start(t, dir), recall))

	fi, err := os.Stat(closed)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), fi.Mode().Perm(), "and stay so")
}

func TestSocketIsInaccessibleToOtherUsers(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{
		"InTheDataDirectory": seeded(t, filepath.Join(sharedDir(t), "data")),
		"Elsewhere":          seeded(t, filepath.Join(sharedDir(t), strings.Repeat("deep/", 30))),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, os.Chmod(dir, 0o755)) // as if an operator had changed the mode
			db := start(t, dir)
			fi, err := os.Stat(socketOf(t, db.DSN()))
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o700), fi.Mode().Perm())
			fi, err = os.Stat(filepath.Join(socketOf(t, db.DSN()), socketName))
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o700), fi.Mode().Perm())
			if os.Geteuid() == 0 {
				stranger := enact(t, "dial", db.DSN(), nobody)
				require.Contains(t, stranger.Err, "permission denied")
			}
		})
	}
}

func TestDirectoryNamesUnsuitableForASocketWork(t *testing.T) {
	t.Parallel()
	for name, below := range map[string]string{
		"TooLong": strings.Repeat("a-rather-long-name/", 12),
		"Odd":     `it's "my" données, 50%2F?c=d&e`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), below)
			db := start(t, dir)
			ask(t, db, remember)
			socket := socketOf(t, db.DSN())
			require.LessOrEqual(t, len(filepath.Join(socket, socketName)), socketPathLimit)
			require.NoError(t, db.Stop(t.Context()))
			require.NoDirExists(t, socket, "nothing is left outside the data directory")
			require.Equal(t, "kept", ask(t, start(t, dir), recall))
		})
	}
}

func TestSocketDirectoryOutsideIsCleanedUpAfterACrash(t *testing.T) {
	t.Parallel()
	dir := seeded(t, filepath.Join(t.TempDir(), strings.Repeat("deep/", 30)))
	server := serveAndRemember(t, "serve", dir)
	server.kill()
	require.DirExists(t, socketOf(t, server.DSN))

	db := start(t, dir)
	require.NotEqual(t, socketOf(t, server.DSN), socketOf(t, db.DSN()))
	require.NoDirExists(t, socketOf(t, server.DSN))
}

func TestSocketNoteWithAnotherDirectoryIsIgnored(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	precious := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, socketPathName), []byte(precious), 0o600))
	start(t, dir)
	require.DirExists(t, precious)
}

func TestSymbolicLinksDoNotLeadOutOfTheDataDirectory(t *testing.T) {
	t.Parallel()
	dir, precious := t.TempDir(), filepath.Join(t.TempDir(), "precious")
	require.NoError(t, os.WriteFile(precious, []byte("untouched"), 0o600))
	require.NoError(t, os.Symlink(precious, filepath.Join(dir, postgresLog)))
	_, err := Start(t.Context(), Config{DataDir: dir})
	require.ErrorContains(t, err, "escapes")
	text, err := os.ReadFile(precious)
	require.NoError(t, err)
	require.Equal(t, "untouched", string(text))
}
