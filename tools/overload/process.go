package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// server is the real one, in a process of its own.
type server struct {
	cmd   *exec.Cmd
	addr  string
	data  string
	asks  []string // heads of the requests that claim, one for each tenant
	pools int
}

// The bounds of starting and stopping.
const (
	startLimit = 2 * time.Minute
	stopLimit  = 40 * time.Second
)

// startServer starts the server on an empty directory, and makes the tenants and pools that the load needs. Rates are not limited: what is
// measured is what happens when they do not help.
func startServer(ctx context.Context, o options) (_ *server, err error) {
	if err := os.RemoveAll(o.data); err != nil { // what a killed run left
		return nil, err
	}
	log, err := os.Create(strings.TrimSuffix(o.json, ".json") + ".log")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	args := []string{"--auth=keys", "--listen=127.0.0.1:0", "--data-dir=" + o.data, "--rate-limit-reads=0", "--rate-limit-writes=0"}
	s := &server{data: o.data, pools: o.pools}
	s.cmd = exec.Command(o.server, append(args, strings.Fields(o.flags)...)...) //nolint:gosec,noctx // an operator's flag; stopped by stop, in order
	s.cmd.Stderr = log
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.stop())
		}
	}()
	limit := time.AfterFunc(startLimit, func() { _ = s.cmd.Process.Kill() })
	defer limit.Stop()
	key := ""
	lines := bufio.NewScanner(out)
	for key == "" && lines.Scan() {
		line := lines.Text()
		if addr, ok := strings.CutPrefix(line, "listening on "); ok {
			s.addr = addr
		}
		if _, token, ok := strings.Cut(line, "admin key "); ok {
			key = strings.TrimSpace(token)
		}
	}
	if s.addr == "" || key == "" {
		return nil, fmt.Errorf("the server did not start; see %s", log.Name())
	}
	go func() {
		for lines.Scan() { // what it says further is not to fill the pipe
			continue
		}
	}()
	err = s.furnish(ctx, key)
	return s, err
}

// stop ends the server as an operator does, and removes its data.
func (s *server) stop() error {
	limit := time.AfterFunc(stopLimit, func() { _ = s.cmd.Process.Kill() })
	defer limit.Stop()
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	return errors.Join(s.cmd.Wait(), os.RemoveAll(s.data))
}

// audit checks every invariant of the data, with the server running.
func (s *server) audit(ctx context.Context, o options) (string, error) {
	if o.audit == "" {
		return "not audited", nil
	}
	out, err := exec.CommandContext(ctx, o.audit, "audit", "--data-dir="+s.data).CombinedOutput() //nolint:gosec // an operator's flag
	if err != nil {
		return "", fmt.Errorf("the audit: %w: %s", err, out)
	}
	return "clean", nil
}

// rss is the resident memory of the server's process, in bytes, and most what it was at most. The database's processes are not in it.
func (s *server) rss() (now, most int64, err error) {
	raw, err := os.ReadFile(s.about("status")) //nolint:gosec // G703: of /proc
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(raw)) {
		name, rest, _ := strings.Cut(line, ":")
		fields := strings.Fields(rest)
		if len(fields) != 2 {
			continue
		}
		n, err := strconv.ParseInt(fields[0], 10, 64)
		switch {
		case name == "VmRSS" && err == nil:
			now = n << 10
		case name == "VmHWM" && err == nil:
			most = n << 10
		}
	}
	if now == 0 {
		return 0, 0, errors.New("the process does not say how much memory it has")
	}
	return now, most, nil
}

// about is a file of /proc about the server's process.
func (s *server) about(what string) string {
	return fmt.Sprintf("/proc/%d/%s", s.cmd.Process.Pid, what)
}

// forget makes the most memory that the process had what it has now.
func (s *server) forget() error {
	return os.WriteFile(s.about("clear_refs"), []byte("5"), 0o600) //nolint:gosec // G703: of /proc
}

// enoughFiles refuses to begin what the limit of open files would end.
func enoughFiles(connections int) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	if need := uint64(connections) + 200; limit.Cur < need { //nolint:gosec // not negative
		return fmt.Errorf("%d connections need %d open files here and in the server, and the limit is %d: raise it (ulimit -n), or ask for fewer", connections, need, limit.Cur)
	}
	return nil
}
