// Package acceptance runs the real Terraform with the provider as it is built, against servers of Carve with databases of their own, all of them
// processes. TERRAFORM names another program, such as OpenTofu.
package acceptance_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/carve-ipam/carve/client"
)

// world is what all tests share.
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
		fmt.Println("skipped:", err)
		return 0
	}
	if world.dir, err = os.MkdirTemp("", "carve-terraform-"); err != nil {
		fmt.Println(err)
		return 1
	}
	defer func() { _ = os.RemoveAll(world.dir) }()
	if err := errors.Join(os.Chmod(world.dir, 0o755), build()); err != nil { // the database's user looks into it
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

// build builds the provider, and has Terraform take it instead of asking a registry.
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

// server is a server of Carve, and its operators' key.
type server struct {
	*client.Carve
	url, key string
	cmd      *exec.Cmd
}

// root is a path from the root of the checkout.
func root(path string) string { return filepath.Join("..", "..", path) }

// serve starts a server.
func serve(name string, flags ...string) (*server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := listener.Addr().String()
	_ = listener.Close()
	data := filepath.Join(world.dir, name)
	s := &server{url: "http://" + address}
	program, err := filepath.Abs(root("bin/server"))
	if err != nil {
		return nil, err
	}
	var said bytes.Buffer
	s.cmd = exec.Command(program, append([]string{"--auth=keys", "--data-dir=" + data, "--listen=" + address, "--log-level=error"}, flags...)...)
	s.cmd.Stdout, s.cmd.Stderr = &said, &said
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w (`make terraform-test` builds it)", err)
	}
	bootstrap, err := filepath.Abs(root("bin/ipamctl"))
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(time.Minute); ; {
		key, err := exec.Command(bootstrap, "bootstrap", "--data-dir="+data, "-q").Output()
		if err == nil {
			s.key = strings.TrimSpace(string(key))
			break
		}
		if time.Now().After(deadline) {
			s.stop()
			return nil, fmt.Errorf("bootstrap: %w\n%s", err, said.String())
		}
	}
	if s.Carve, err = client.New(s.url, client.WithAPIKey(s.key)); err != nil {
		return nil, err
	}
	_, err = s.GetWhoami(context.Background())
	return s, err
}

func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = s.cmd.Wait()
}
