package proof_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// process is a running server, in the image or beside it.
type process struct {
	cmd     *exec.Cmd
	address string
	mu      sync.Mutex
	said    bytes.Buffer
}

// Write stores the process's stderr for a failing test.
func (p *process) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.Write(text)
}

func (p *process) log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.String()
}

// startServer starts a server and waits for the line with its address.
func startServer(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{cmd: cmd}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = p
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			_ = cmd.Wait()
		}
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if address, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
			p.address = address
			break
		}
	}
	require.NotEmpty(t, p.address, "the server did not start: %s", p.log())
	go func() {
		for lines.Scan() { // reads the later output, so that the pipe does not fill up
		}
	}()
	return p
}

func (p *process) get(t *testing.T, path string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.address+path, http.NoBody)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	return answer.StatusCode
}

// status returns the kernel's status of the process. exec in the jail keeps the process id.
func (p *process) status(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	require.NoError(t, err)
	return string(text)
}

// stop asks the process to end, as a cluster does.
func (p *process) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	assert.NoError(t, p.cmd.Wait(), p.log())
	assert.Zero(t, p.cmd.ProcessState.ExitCode())
}

// startDatabase returns the URL of an empty database on loopback. The database belongs to a server beside the image, on the machine's own PostgreSQL.
// That PostgreSQL only listens on a socket, so programs in the image reach it through a relay.
func startDatabase(t *testing.T, program string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	openWay(t, filepath.Dir(dir)) // PostgreSQL runs as another user
	// The test's own context would kill it before its Cleanup stops it, and PostgreSQL would still write while its directory is removed.
	outlive := context.WithoutCancel(t.Context())
	keeper := startServer(t, exec.CommandContext(outlive, program, "--auth=dev", "--listen=127.0.0.1:0", "--data-dir="+dir))
	text, err := os.ReadFile(filepath.Join(dir, "server.lock"))
	require.NoError(t, err)
	_, dsn, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	require.NotEmpty(t, dsn, keeper.log())
	db, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), "CREATE DATABASE proof")
	require.NoError(t, err)
	config := db.Config()
	require.NoError(t, db.Close(t.Context()))
	address := relay(t, filepath.Join(config.Host, fmt.Sprintf(".s.PGSQL.%d", config.Port)))
	return (&url.URL{Scheme: "postgresql", User: url.User(config.User), Host: address, Path: "/proof", RawQuery: "sslmode=disable"}).String()
}
