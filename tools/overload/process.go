package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"github.com/carve-ipam/carve/internal/serverproc"
)

// server is the real one, in a process of its own.
type server struct {
	*serverproc.Server
	addr  string
	pid   int
	data  string
	asks  []string // heads of the requests that claim, one for each tenant
	pools int
}

// startServer starts the server on an empty directory, and makes the tenants and pools that the load needs. Rates are not limited: what is
// measured is what happens when they do not help.
func startServer(ctx context.Context, o options) (*server, error) {
	log, err := os.Create(strings.TrimSuffix(o.json, ".json") + ".log")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	args := []string{"--auth=keys", "--rate-limit-reads=0", "--rate-limit-writes=0"}
	p, err := serverproc.Start(ctx, serverproc.Options{Program: o.server, Args: append(args, strings.Fields(o.flags)...), Data: o.data, Log: log})
	if err != nil {
		return nil, err
	}
	s := &server{Server: p, addr: p.Addr(), pid: p.Pid(), data: o.data, pools: o.pools}
	key, err := s.AdminKey(ctx)
	if err == nil {
		err = s.furnish(ctx, key)
	}
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
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
	return fmt.Sprintf("/proc/%d/%s", s.pid, what)
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
