package cluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fake writes a shell script that replaces cockroach. The script records its calls and behaves as given. The tests check how this program calls
// cockroach, and not how CockroachDB behaves.
func fake(t *testing.T, script string) (bin, record string) {
	t.Helper()
	dir := t.TempDir()
	bin, record = filepath.Join(dir, "cockroach"), filepath.Join(dir, "record")
	head := "#!/bin/sh\nrecord='" + record + "'\n" + `region=$(echo "$*" | sed -n 's/.*--locality=region=\([a-z]*\).*/\1/p')` + "\n"
	require.NoError(t, os.WriteFile(bin, []byte(head+script), 0o755))
	return bin, record
}

// serving is a script that starts, runs until it is stopped, and succeeds only at its second initialisation.
const serving = `
case $1 in
start)
	echo "start $$ $*" >> "$record"
	mkfifo "$record.$region"
	cat "$record.$region" & waiting=$!
	trap 'echo "stopped $region" >> "$record"; kill $waiting; exit 0' TERM
	touch "$record.up.$region"
	wait $waiting ;;
init)
	echo "$*" >> "$record"
	[ "$(grep -c '^init' "$record")" -gt 1 ] || { echo 'connection refused' >&2; exit 1; } ;;
esac
`

// up waits until the fake is up.
func up(record string) waiter {
	return func(_ context.Context, n *node) error {
		_, err := os.Stat(record + ".up." + n.region)
		return err
	}
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

func limited(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// gone requires that all recorded processes have ended.
func gone(t *testing.T, record []string) {
	t.Helper()
	for _, line := range record {
		if pid, ok := strings.CutPrefix(line, "start "); ok {
			number, err := strconv.Atoi(strings.Fields(pid)[0])
			require.NoError(t, err)
			require.ErrorIs(t, syscall.Kill(number, 0), syscall.ESRCH)
		}
	}
}

func TestThreeNodesAreStartedJoinedAndStopped(t *testing.T) {
	t.Parallel()
	bin, record := fake(t, serving)
	say := `echo "command $CARVE_TEST_ENGINE $CRDB_URL $CRDB_URLS" >> ` + record
	err := run(limited(t), bin, []string{say, say, say}, up(record))
	require.NoError(t, err)
	said := lines(t, record)
	var starts, inits, commands, stops []string
	for i, line := range said {
		switch strings.Fields(line)[0] {
		case "start":
			starts = append(starts, line)
		case "init":
			inits = append(inits, line)
		case "command":
			require.Len(t, starts, 3, "line %d: after all nodes", i)
			require.Len(t, inits, 2, "line %d: tried until it works", i)
			commands = append(commands, line)
		case "stopped":
			require.Len(t, commands, 3, "line %d: after all commands", i)
			stops = append(stops, line)
		}
	}
	require.Len(t, said, len(starts)+len(inits)+len(commands)+len(stops))
	require.ElementsMatch(t, []string{"stopped local", "stopped eu", "stopped us"}, stops)
	address := regexp.MustCompile(`--listen-addr=(127\.0\.0\.1:\d+) --advertise-addr=(127\.0\.0\.1:\d+) --http-addr=127\.0\.0\.1:0 --join=(\S+) --locality=region=(\w+) --store=type=mem`)
	at := map[string]string{}
	joins := map[string]bool{}
	for _, s := range starts {
		m := address.FindStringSubmatch(s)
		require.NotNil(t, m, s)
		require.Equal(t, m[1], m[2])
		require.Contains(t, s, " start --insecure ")
		at[m[4]], joins[m[3]] = m[1], true
	}
	all := strings.Join([]string{at["local"], at["eu"], at["us"]}, ",")
	require.Equal(t, map[string]bool{all: true}, joins, "each joins all")
	require.Equal(t, "init --insecure --host="+at["local"], inits[0])
	url := func(region string) string {
		return "postgresql://root@" + at[region] + "/defaultdb?sslmode=disable"
	}
	urls := "local=" + url("local") + ",eu=" + url("eu") + ",us=" + url("us")
	for i, region := range regions {
		require.Equal(t, "command cockroach "+url(region)+" "+urls, commands[i])
	}
	gone(t, said)
}

func TestFailedCommandIsReportedAndTheOthersRun(t *testing.T) {
	t.Parallel()
	bin, record := fake(t, serving)
	err := run(limited(t), bin, []string{"exit 3", "true", "echo last >> " + record}, up(record))
	require.EqualError(t, err, "through the node in local: exit status 3")
	said := lines(t, record)
	require.Contains(t, said, "last")
	gone(t, said)
}

func TestNodeThatEndsAtItsStartIsReportedWithItsOutput(t *testing.T) {
	t.Parallel()
	bin, record := fake(t, `[ "$region" != eu ] || { echo 'port is taken'; exit 7; }`+serving)
	err := run(limited(t), bin, []string{"true", "true", "true"}, func(context.Context, *node) error { return errors.New("not up") })
	require.ErrorContains(t, err, "the node in eu ended: exit status 7")
	require.ErrorContains(t, err, "port is taken")
	gone(t, lines(t, record))
}

func TestANodeThatEndsLaterFailsTheRun(t *testing.T) {
	t.Parallel()
	bin, record := fake(t, serving)
	kill := `kill "$(sed -n 's/^start \([0-9]*\) .*region=eu.*/\1/p' ` + record + `)"; until grep -q 'stopped eu' ` + record + `; do :; done; until ! kill -0 "$(sed -n 's/^start \([0-9]*\) .*region=eu.*/\1/p' ` + record + `)" 2>/dev/null; do :; done`
	err := run(limited(t), bin, []string{kill, "echo never >> " + record, "true"}, up(record))
	require.ErrorContains(t, err, "the node in eu ended")
	said := lines(t, record)
	require.NotContains(t, said, "never")
	gone(t, said)
}

func TestAnInterruptStopsEverything(t *testing.T) {
	t.Parallel()
	bin, record := fake(t, serving)
	ctx, cancel := context.WithCancel(limited(t))
	started := record + ".started"
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(started); err == nil {
				cancel()
			}
		}
	}()
	err := run(ctx, bin, []string{"touch " + started + "; exec sleep 600", "true", "true"}, up(record))
	require.ErrorIs(t, err, context.Canceled)
	gone(t, lines(t, record))
}

func TestMissingCockroachDBIsAnError(t *testing.T) {
	t.Parallel()
	err := run(limited(t), filepath.Join(t.TempDir(), "cockroach"), []string{"true", "true", "true"}, answers)
	require.ErrorContains(t, err, "no CockroachDB")
}
