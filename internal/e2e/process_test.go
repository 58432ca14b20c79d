package e2e

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// built is cmd/server: built for the first test that needs it, removed after the last that does.
var built struct {
	mu    sync.Mutex
	users int
	dir   string
}

// serverBinary is the path of cmd/server, where every user may run it.
func serverBinary(t testing.TB) string {
	t.Helper()
	built.mu.Lock()
	defer built.mu.Unlock()
	if built.users == 0 {
		built.dir = openDir(t)
		out, err := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", built.dir, "../../cmd/server").CombinedOutput()
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

// openDir makes a temporary directory that everybody can walk through, unlike t.TempDir. It is not removed.
func openDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "carve-e2e-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	return dir
}

// process is a running cmd/server.
type process struct {
	cmd    *exec.Cmd
	addr   string
	stdout safeBuffer
	stderr bytes.Buffer
	done   chan struct{} // closed when it has ended and everything it said is in stdout and stderr
}

// user is who a process runs as; nil is who runs the test.
type user = *syscall.Credential

// startProcess runs cmd/server and returns when it listens. It is killed with the test if it is still there.
func startProcess(t testing.TB, binary string, who user, flags ...string) *process {
	t.Helper()
	p := runProcess(t, binary, who, flags...)
	require.NotEmpty(t, p.addr, "the server did not start: %s", &p.stderr)
	return p
}

// runProcess runs cmd/server and returns when it listens or, without an address, when it has ended.
func runProcess(t testing.TB, binary string, who user, flags ...string) *process {
	t.Helper()
	if !slices.ContainsFunc(flags, func(f string) bool { return strings.HasPrefix(f, "--auth=") }) {
		flags = append([]string{"--auth=dev"}, flags...)
	}
	p := &process{cmd: exec.Command(binary, append([]string{"--listen=127.0.0.1:0", "--log-level=warn"}, flags...)...), done: make(chan struct{})}
	p.cmd.Dir = "/"
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.Getenv("TMPDIR")}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	p.cmd.Stderr = &p.stderr
	stdout, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	listening := make(chan string, 1)
	go func() {
		defer close(p.done)
		lines := bufio.NewReader(io.TeeReader(stdout, &p.stdout))
		first, _ := lines.ReadString('\n')
		listening <- strings.TrimSpace(strings.TrimPrefix(first, "listening on "))
		_, _ = io.Copy(io.Discard, lines)
		_ = p.cmd.Wait()
	}()
	t.Cleanup(p.kill)
	if p.addr = <-listening; p.addr == "" {
		<-p.done
	}
	return p
}

// said is the first thing of a kind that the process has written to its standard output; "" when there is none yet.
func (p *process) said(what *regexp.Regexp) string { return what.FindString(p.stdout.String()) }

// kill is kill -9; it returns when the process is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended already
	<-p.done
}

// terminate asks the process to stop, and answers its exit code.
func (p *process) terminate(t testing.TB) int {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	<-p.done
	return p.cmd.ProcessState.ExitCode()
}

// exitCode of a process that has ended.
func (p *process) exitCode() int { return p.cmd.ProcessState.ExitCode() }
