package cluster

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// server is a Carve server with an embedded database. All its clients are admins.
type server struct {
	cmd     *exec.Cmd
	dir     string
	address string
}

// start starts the server and returns when it listens. The first start chooses a free port, and later starts keep it.
func (s *server) start() error {
	if s.dir == "" {
		var err error
		if s.dir, err = os.MkdirTemp("", "carve-controller-"); err != nil {
			return err
		}
		if err := os.Chmod(s.dir, 0o755); err != nil { //nolint:gosec // PostgreSQL runs as a user of its own
			return err
		}
		s.address = "127.0.0.2:0" // no other program listens on this address, so none takes the port during a restart
	}
	log, err := os.OpenFile(s.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	s.cmd = exec.Command(serverProgram(), "--auth=dev", "--listen="+s.address, "--data-dir="+s.data(), //nolint:gosec,noctx // ended by stop
		"--rate-limit-reads=0", "--rate-limit-writes=0", "--rate-limit-work=0", "--rate-limit-project-work=0")
	s.cmd.Stderr = log
	said, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	const listens = "listening on "
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if address, ok := strings.CutPrefix(lines.Text(), listens); ok {
			s.address = address
			go func() { // reads later output, so that the server never blocks
				for lines.Scan() {
				}
			}()
			return nil
		}
	}
	text, _ := os.ReadFile(s.log())
	return fmt.Errorf("the server did not start: %s", text)
}

func (s *server) log() string  { return s.dir + "/log" }
func (s *server) data() string { return s.dir + "/data" }

// kill ends the server at once, as if its machine failed.
func (s *server) kill() error {
	err := s.cmd.Process.Kill()
	_, waited := s.cmd.Process.Wait()
	return errors.Join(err, waited)
}

// stop ends the server in the regular way.
func (s *server) stop() error {
	if s.cmd == nil || s.cmd.Process == nil {
		return nil
	}
	err := s.cmd.Process.Signal(syscall.SIGTERM)
	_, waited := s.cmd.Process.Wait()
	return errors.Join(err, waited, os.RemoveAll(s.dir))
}
