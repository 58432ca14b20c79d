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

// server is a server of Carve with an embedded database, everybody being its admin.
type server struct {
	cmd     *exec.Cmd
	dir     string
	address string
}

// start returns when the server listens.
func (s *server) start() error {
	var err error
	if s.dir, err = os.MkdirTemp("", "carve-controller-"); err != nil {
		return err
	}
	log, err := os.Create(s.dir + "/log")
	if err != nil {
		return err
	}
	if err := os.Chmod(s.dir, 0o755); err != nil { //nolint:gosec // PostgreSQL runs as a user of its own
		return err
	}
	s.cmd = exec.Command(serverProgram(), "--auth=dev", "--listen=127.0.0.1:0", "--data-dir="+s.dir+"/data", //nolint:gosec,noctx // ended by stop
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
			go func() { // what it says afterwards is read, so that it never waits
				for lines.Scan() {
				}
			}()
			return nil
		}
	}
	text, _ := os.ReadFile(log.Name())
	return fmt.Errorf("the server did not start: %s", text)
}

// stop ends the server in order.
func (s *server) stop() error {
	if s.cmd == nil || s.cmd.Process == nil {
		return nil
	}
	err := s.cmd.Process.Signal(syscall.SIGTERM)
	_, waited := s.cmd.Process.Wait()
	return errors.Join(err, waited, os.RemoveAll(s.dir))
}
