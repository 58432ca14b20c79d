// Package acceptance runs the real Terraform with the built provider against Carve servers. Each server is a process with a database of its own. The
// variable TERRAFORM can name another program, such as OpenTofu.
package acceptance_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// world has the data that all tests share.
var world struct {
	dir, terraform string
	main           *server
}

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) (code int) {
	program := os.Getenv("TERRAFORM")
	if program == "" {
		program = "terraform"
	}
	var err error
	if world.terraform, err = exec.LookPath(program); err != nil {
		fmt.Println("These tests need Terraform 1.11 or later on PATH, or its path in TERRAFORM:", err)
		return 1
	}
	if world.dir, err = os.MkdirTemp("", "carve-terraform-"); err != nil {
		fmt.Println(err)
		return 1
	}
	defer func() { _ = os.RemoveAll(world.dir) }()
	if err := errors.Join(os.Chmod(world.dir, 0o755), build()); err != nil { // the user of the database needs access to the directory
		fmt.Println(err)
		return 1
	}
	if world.main, err = serve("main", "--rate-limit-writes=0", "--rate-limit-reads=0", "--rate-limit-work=0", "--rate-limit-project-work=0"); err != nil {
		fmt.Println(err)
		return 1
	}
	defer world.main.stop()
	return m.Run()
}

// build builds the provider and configures Terraform to use it instead of a registry.
func build() error {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-X main.version=1.2.3",
		"-o", filepath.Join(world.dir, "bin", "terraform-provider-carve"), "github.com/carve-ipam/carve/terraform")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, said)
	}
	rc := fmt.Sprintf("disable_checkpoint = true\nprovider_installation {\n  dev_overrides {\n    \"carve-ipam/carve\" = %q\n  }\n  direct {}\n}\n",
		filepath.Join(world.dir, "bin"))
	return os.WriteFile(filepath.Join(world.dir, "rc"), []byte(rc), 0o600)
}

// server is a Carve server with the API key of its operators.
type server struct {
	*client.Carve
	url, key string
	cmd      *exec.Cmd
}

// root returns a path below the repository's root.
func root(path string) string { return filepath.Join("..", "..", path) }

// serve starts a server and waits until it listens.
func serve(name string, flags ...string) (*server, error) {
	data := filepath.Join(world.dir, name)
	program, err := filepath.Abs(root("bin/server"))
	if err != nil {
		return nil, err
	}
	s := &server{cmd: exec.Command(program, append([]string{"--auth=keys", "--data-dir=" + data, "--listen=127.0.0.1:0", "--log-level=error"}, flags...)...)}
	said, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.cmd.Stderr = os.Stderr
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w (`make terraform-test` builds it)", err)
	}
	lines := bufio.NewScanner(said)
	for s.url == "" && lines.Scan() {
		if address, found := strings.CutPrefix(lines.Text(), "listening on "); found {
			s.url = "http://" + address
		}
	}
	go func() { _, _ = io.Copy(io.Discard, said) }()
	bootstrap, err := filepath.Abs(root("bin/ipamctl"))
	if err != nil {
		return nil, err
	}
	key, err := exec.Command(bootstrap, "bootstrap", "--data-dir="+data, "-q").CombinedOutput()
	if err != nil {
		s.stop()
		return nil, fmt.Errorf("bootstrap: %w\n%s", err, key)
	}
	s.key = strings.TrimSpace(string(key))
	s.Carve, err = client.New(s.url, client.WithAPIKey(s.key))
	return s, err
}

func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = s.cmd.Wait()
}

// send sends a request with the operators' key. The status must be 200, and send returns the document.
func (s *server) send(t testing.TB, method, path, body string) map[string]any {
	t.Helper()
	status, document := s.ask(t, method, path, body)
	require.Equal(t, http.StatusOK, status, "%s %s: %v", method, path, document)
	return document
}

// get reads the document at a path.
func (s *server) get(t testing.TB, path string) (status int, document map[string]any) {
	t.Helper()
	return s.ask(t, http.MethodGet, path, "")
}

// remove deletes the object at a path.
func (s *server) remove(t testing.TB, path string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, s.url+path, nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+s.key)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Less(t, resp.StatusCode, http.StatusBadRequest, path)
}

// ask sends a request with the operators' key.
func (s *server) ask(t testing.TB, method, path, body string) (status int, document map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+s.key)
	req.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		req.Header.Set("Content-Type", "application/merge-patch+json")
		req.Header.Set("If-Match", "*")
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	document = map[string]any{}
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&document))
	return resp.StatusCode, document
}
