package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/lab/serverproc"
	"github.com/carve-ipam/carve/lab/tool"
)

// built is the binary of cmd/server. The first test that needs it builds it, and it is removed after the last test.
var built struct {
	mu    sync.Mutex
	users int
	dir   string
}

// serverBinary returns the path of the built cmd/server. Each user may run it there.
func serverBinary(t testing.TB) string {
	t.Helper()
	built.mu.Lock()
	defer built.mu.Unlock()
	if built.users == 0 {
		built.dir = openDir(t)
		out, err := exec.CommandContext(t.Context(), "go", "-C", "../..", "build", "-buildvcs=false", "-o", built.dir, "./cmd/server").CombinedOutput()
		require.NoError(t, err, string(out))
	}
	built.users++
	t.Cleanup(func() {
		built.mu.Lock()
		defer built.mu.Unlock()
		if built.users--; built.users == 0 {
			_ = os.RemoveAll(built.dir)
		}
	})
	return filepath.Join(built.dir, "server")
}

// openDir makes a temporary directory that each user can enter, unlike t.TempDir. The caller must remove it.
func openDir(t testing.TB) string {
	t.Helper()
	dir, err := tool.TempDir("carve-e2e-")
	require.NoError(t, err)
	return dir
}

// process is a running cmd/server.
type process = serverproc.Server

// user is the user of a process. nil means the user of the test.
type user = *syscall.Credential

// startProcess starts cmd/server and returns when it listens. At the end of the test, the process is killed.
func startProcess(t testing.TB, binary string, who user, flags ...string) *process {
	t.Helper()
	p, err := serverproc.Start(t.Context(), howToRun(binary, who, flags))
	require.NoError(t, err)
	t.Cleanup(p.Kill)
	return p
}

// refusedProcess starts cmd/server and requires that it refuses to start.
func refusedProcess(t testing.TB, binary string, who user, flags ...string) *serverproc.ExitError {
	t.Helper()
	p, err := serverproc.Start(t.Context(), howToRun(binary, who, flags))
	if err == nil {
		p.Kill()
	}
	var refusal *serverproc.ExitError
	require.ErrorAs(t, err, &refusal)
	return refusal
}

func howToRun(binary string, who user, flags []string) serverproc.Options {
	if !slices.ContainsFunc(flags, func(f string) bool { return strings.HasPrefix(f, "--auth=") }) {
		flags = append([]string{"--auth=dev"}, flags...)
	}
	return serverproc.Options{
		Program: binary, Args: append([]string{"--log-level=warn"}, flags...), Dir: "/", User: who,
		Env:   []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.Getenv("TMPDIR")},
		Limit: 5 * time.Minute, // the machine may be busy
	}
}
