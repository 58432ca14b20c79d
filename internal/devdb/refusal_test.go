package devdb

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSecondServerOnADirectoryIsRefused(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	first := serveAndRemember(t, "serve", dir)

	_, err := Start(t.Context(), Config{DataDir: dir})
	require.ErrorIs(t, err, ErrInUse)
	var inUse *InUseError
	require.ErrorAs(t, err, &inUse)
	require.Equal(t, first.cmd.Process.Pid, inUse.PID, "the error says who")
	require.Equal(t, first.DSN, inUse.DSN, "and where its database listens")
	require.ErrorIs(t, Remove(dir), ErrInUse)

	word, err := askAt(t.Context(), first.DSN, recall)
	require.NoError(t, err)
	require.Equal(t, "kept", word, "the first is not disturbed")
}

func TestConcurrentStartsAdmitOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const starts = 8
	results := make(chan error, starts)
	var all sync.WaitGroup
	release := make(chan struct{})
	for range starts {
		all.Go(func() {
			db, err := Start(t.Context(), Config{DataDir: dir})
			results <- err
			<-release
			if db != nil {
				_ = db.Stop(t.Context())
			}
		})
	}
	won := 0
	for range starts {
		if err := <-results; err == nil {
			won++
		} else {
			require.ErrorIs(t, err, ErrInUse)
		}
	}
	close(release)
	all.Wait()
	require.Equal(t, 1, won)
}

func TestDataOfAnotherMajorVersionIsRefused(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	version := filepath.Join(dir, clusterName, "PG_VERSION")
	require.NoError(t, os.WriteFile(version, []byte("14\n"), 0o600))

	_, err := Start(t.Context(), Config{DataDir: dir})
	require.ErrorIs(t, err, ErrVersion)
	require.ErrorContains(t, err, "PostgreSQL 14 wrote it")
}

func TestForeignDirectoryInPlaceOfTheClusterIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	precious := filepath.Join(dir, clusterName, "precious")
	require.NoError(t, os.Mkdir(filepath.Dir(precious), 0o700))
	require.NoError(t, os.WriteFile(precious, nil, 0o600))
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(filepath.Dir(precious), 65534, 65534))
	}
	_, err := Start(t.Context(), Config{DataDir: dir})
	require.ErrorContains(t, err, "is not a PostgreSQL cluster")
	require.FileExists(t, precious)
}

func TestMissingPostgreSQLSaysWhatToInstall(t *testing.T) {
	t.Setenv(EnvPostgresBin, t.TempDir())
	_, err := Start(t.Context(), Config{DataDir: t.TempDir()})
	require.ErrorIs(t, err, ErrMissing)
	require.ErrorContains(t, err, "package postgresql of Debian and Ubuntu, or `make deps` in a checkout")
	require.ErrorContains(t, err, "--database-url")
}

// fakePostgres creates a directory with scripts that print a version like PostgreSQL's programs, and do nothing else.
func fakePostgres(t *testing.T, version string) string {
	t.Helper()
	dir := sharedDir(t)
	for _, name := range []string{"postgres", "initdb"} {
		script := fmt.Sprintf("#!/bin/sh\necho '%s (PostgreSQL) %s'\n", name, version)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755))
	}
	return dir
}

func TestOldPostgreSQLIsRefused(t *testing.T) {
	t.Setenv(EnvPostgresBin, fakePostgres(t, "14.11"))
	_, err := Start(t.Context(), Config{DataDir: t.TempDir()})
	require.ErrorIs(t, err, ErrMissing)
	require.ErrorContains(t, err, "version 14 is too old")
}

func TestProgramsThatWroteTheDataArePreferred(t *testing.T) {
	dir := dataDir(t)
	db := start(t, dir)
	ask(t, db, remember)
	require.NoError(t, db.Stop(t.Context()))

	t.Setenv("PATH", fakePostgres(t, "99beta1")+":"+os.Getenv("PATH"))
	require.Equal(t, "kept", ask(t, start(t, dir), recall), "a newer PostgreSQL beside it changes nothing")
}

func TestUnknownEngineIsRefused(t *testing.T) {
	t.Parallel()
	_, err := Start(t.Context(), Config{DataDir: t.TempDir(), Engine: "sqlite"})
	require.ErrorContains(t, err, `engine "sqlite" is not one of`)
}

func TestRemove(t *testing.T) {
	t.Parallel()
	t.Run("DeletesADataDirectory", func(t *testing.T) {
		t.Parallel()
		dir := dataDir(t)
		require.NoError(t, start(t, dir).Stop(t.Context()))
		require.NoError(t, Remove(dir))
		require.NoDirExists(t, dir)
		require.NoError(t, Remove(dir), "what is not there is removed")
	})
	t.Run("KeepsOtherDirectories", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		require.ErrorIs(t, Remove(dir), os.ErrNotExist)
		require.DirExists(t, dir)
	})
	t.Run("KeepsARunningDatabaseWithoutAServer", func(t *testing.T) {
		t.Parallel()
		dir := dataDir(t)
		server := serveAndRemember(t, "serve-untied", dir)
		server.kill()
		require.ErrorIs(t, Remove(dir), ErrInUse)
		require.Equal(t, "kept", ask(t, start(t, dir), recall))
	})
}
