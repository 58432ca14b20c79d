package installed_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// process is the running program.
type process struct {
	story
	cmd             *exec.Cmd
	metrics, probes string
	ended           bool

	mu   sync.Mutex
	said bytes.Buffer
}

// start runs the program with the flags of an installation and some more. It returns when the program is ready.
func (s story) start(more ...string) *process {
	s.Helper()
	p := &process{story: s, metrics: free(s.T, "127.0.0.3"), probes: free(s.T, "127.0.0.4")}
	p.cmd = exec.Command(world.program, append([]string{
		"--carve=" + world.CarveURL, "--project=" + s.name, "--leader-elect-resource-namespace=" + s.name, "--log-format=json",
		"--metrics-bind-address=" + p.metrics, "--health-probe-bind-address=" + p.probes, "--renew-interval=1s", "--consumer-ttl=1h",
		"--leader-elect-lease-duration=1m",
	}, more...)...)
	p.cmd.Env = []string{"KUBECONFIG=" + s.kubeconfig, "PATH=" + os.Getenv("PATH")}
	p.cmd.Stderr = p
	require.NoError(s, p.cmd.Start())
	s.Cleanup(p.stop)
	s.eventually("the program is ready", func() bool { return p.get(p.probes, "/readyz").status == http.StatusOK })
	return p
}

// stop ends the program as Kubernetes does, and requires a regular end.
func (p *process) stop() {
	if p.ended {
		return
	}
	p.ended = true
	assert.NoError(p, p.cmd.Process.Signal(syscall.SIGTERM))
	assert.NoError(p, p.cmd.Wait(), p.log())
	for line := range strings.Lines(p.log()) {
		assert.True(p, json.Valid([]byte(line)), "no JSON in the log: %s", line)
	}
}

// Write collects the program's output.
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

// response is the response of the program. The status is 0 without a response.
type response struct {
	status int
	body   string
}

func (p *process) get(address, path string) response {
	p.Helper()
	request, err := http.NewRequestWithContext(p.Context(), http.MethodGet, "http://"+address+path, http.NoBody)
	require.NoError(p, err)
	got, err := http.DefaultClient.Do(request)
	if err != nil {
		return response{}
	}
	defer func() { _ = got.Body.Close() }()
	body, err := io.ReadAll(got.Body)
	require.NoError(p, err)
	return response{got.StatusCode, string(body)}
}
