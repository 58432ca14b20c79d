package devdb

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCockroachCommandLine(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{
		"start-single-node", "--insecure", "--listen-addr=127.0.0.1:0", "--http-addr=127.0.0.1:0",
		"--store=cockroach", "--locality=region=eu-1", "--listening-url-file=cockroach.url",
	}, cockroachArgs("eu-1"))
}

func TestCockroachListeningURLFile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text, host, err string
	}{
		"Whole":         {text: "postgresql://root@127.0.0.1:41337/defaultdb?sslmode=disable\n", host: "127.0.0.1:41337"},
		"Empty":         {},
		"HalfWritten":   {text: "postgresql://root@127.0.0.1:413"},
		"WithoutAPort":  {text: "postgresql://root@127.0.0.1/defaultdb\n", err: "without a port"},
		"NotDecidedYet": {text: "postgresql://root@127.0.0.1:0/\n", err: "without a port"},
		"Garbage":       {text: "postgresql://[::1\n", err: "unreadable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, err := parseListeningURL(c.text)
			switch {
			case c.err != "":
				require.ErrorContains(t, err, c.err)
			case c.host == "":
				require.NoError(t, err)
				require.Nil(t, u)
			default:
				require.NoError(t, err)
				require.Equal(t, c.host, u.Host)
			}
		})
	}
}

func TestMissingCockroachIsAClearError(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Start(t.Context(), Config{DataDir: t.TempDir(), Engine: Cockroach})
	require.ErrorIs(t, err, ErrMissing)
	require.ErrorContains(t, err, "no `cockroach` on the PATH")
}

// scripted puts a shell script named cockroach on the PATH. It tests only the handling of the process, not CockroachDB.
func scripted(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cockroach"), []byte("#!/bin/sh\n"+script), 0o755))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

func TestScriptedCockroachThatEndsAtOnceIsReportedWithItsOutput(t *testing.T) {
	scripted(t, "echo 'store is corrupt' >&2; exit 7\n")
	dir := t.TempDir()
	_, err := Start(t.Context(), Config{DataDir: dir, Engine: Cockroach})
	require.ErrorContains(t, err, "exit status 7")
	require.ErrorContains(t, err, "store is corrupt")
	require.NoError(t, Remove(dir), "the directory is free again")
}

// The script writes the URL in two parts and then waits for SIGTERM, as a node does. The URL leads to a PostgreSQL, so that the start can complete.
func TestScriptedCockroachProcessIsStartedAwaitedAndStopped(t *testing.T) {
	behind := start(t, dataDir(t))
	ask(t, behind, "CREATE DATABASE defaultdb")
	address := forward(t, filepath.Join(socketOf(t, behind.DSN()), socketName))
	t.Setenv("SCRIPTED_URL", fmt.Sprintf("postgresql://postgres@%s/defaultdb?sslmode=disable", address))
	scripted(t, `
echo "$@" > arguments
mkfifo never
cat never & waiting=$!
trap 'echo drained; kill $waiting; exit 0' TERM
printf %s "$SCRIPTED_URL" > cockroach.url
echo >> cockroach.url
wait $waiting
`)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, cockroachURL), []byte("postgresql://old@127.0.0.1:1/\n"), 0o600))
	db, err := Start(t.Context(), Config{DataDir: dir, Engine: Cockroach, Log: testLog(t)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Stop(context.Background()) })
	require.Equal(t, Cockroach, db.Engine())
	require.Equal(t, "carve", ask(t, db, "SELECT current_database()"))
	arguments, err := os.ReadFile(filepath.Join(dir, "arguments"))
	require.NoError(t, err)
	require.Contains(t, string(arguments), "--locality=region=local")
	_, err = Start(t.Context(), Config{DataDir: dir, Engine: Cockroach})
	require.ErrorIs(t, err, ErrInUse)

	require.NoError(t, db.Stop(t.Context()))
	ended(t, db)
	log, err := os.ReadFile(filepath.Join(dir, cockroachLog))
	require.NoError(t, err)
	require.Contains(t, string(log), "drained", "it was asked to end properly")
}

// forward accepts connections on a loopback port and forwards each to a unix socket.
func forward(t *testing.T, socket string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("unix", socket)
			if err != nil {
				in.Close()
				continue
			}
			go func() { _, _ = io.Copy(out, in); out.Close() }()
			go func() { _, _ = io.Copy(in, out); in.Close() }()
		}
	}()
	return listener.Addr().String()
}
