package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/carve-ipam/carve/internal/devca"
)

// server is the real one, in a process of its own, with its bounds as they are when nobody says otherwise.
type server struct {
	cmd    *exec.Cmd
	addr   string
	url    string
	data   string
	client *http.Client // of the load
	secure *tls.Config  // nil: plain HTTP
	good   string       // the key of the load's project
	bad    []string     // the keys of the attacker's project: attackers may be tenants
	turn   atomic.Int64
	claims atomic.Int64
}

// The bounds of starting and stopping.
const (
	startLimit = 2 * time.Minute
	stopLimit  = time.Minute
)

func startServer(ctx context.Context, o options) (_ *server, err error) {
	if err := os.RemoveAll(o.data); err != nil { // what a killed run left
		return nil, err
	}
	s := &server{data: o.data}
	args := []string{"--auth=keys", "--listen=127.0.0.1:0", "--data-dir=" + o.data, "--log-level=warn"}
	scheme := "http://"
	if o.tls {
		more, err := s.certify(filepath.Dir(o.json))
		if err != nil {
			return nil, err
		}
		args, scheme = append(args, more...), "https://"
	}
	log, err := os.Create(strings.TrimSuffix(o.json, ".json") + ".log")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s.cmd = exec.Command(o.server, args...) //nolint:gosec,noctx // an operator's flag; stopped by stop, in order
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
			s.addr, s.url = addr, scheme+addr
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
	s.client = &http.Client{Transport: &http.Transport{TLSClientConfig: s.secure, MaxIdleConnsPerHost: 64}}
	err = s.furnish(ctx, key)
	return s, err
}

// certify makes what the server needs to speak TLS.
func (s *server) certify(dir string) (flags []string, err error) {
	ca, err := devca.New("hostile")
	if err != nil {
		return nil, err
	}
	certificate, key, err := ca.Issue(devca.Leaf{Name: "server", Hosts: []string{"127.0.0.1"}})
	if err != nil {
		return nil, err
	}
	certFile, keyFile := filepath.Join(dir, "hostile.crt"), filepath.Join(dir, "hostile.key")
	s.secure = &tls.Config{RootCAs: ca.Pool(), MinVersion: tls.VersionTLS12}
	return []string{"--tls-cert=" + certFile, "--tls-key=" + keyFile}, errors.Join(os.WriteFile(certFile, certificate, 0o600), os.WriteFile(keyFile, key, 0o600))
}

// dial is how attackers connect.
func (s *server) dial(ctx context.Context) (net.Conn, error) {
	if s.secure != nil {
		return (&tls.Dialer{Config: s.secure}).DialContext(ctx, "tcp", s.addr)
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", s.addr)
}

// badKey is one of the attacker's keys, in turn.
func (s *server) badKey() string { return s.bad[s.turn.Add(1)%int64(len(s.bad))] }

// stop ends the server as an operator does, and removes its data.
func (s *server) stop() error {
	limit := time.AfterFunc(stopLimit, func() { _ = s.cmd.Process.Kill() })
	defer limit.Stop()
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	return errors.Join(s.cmd.Wait(), os.RemoveAll(s.data))
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
	if need := uint64(connections) + 400; limit.Cur < need { //nolint:gosec // not negative
		return fmt.Errorf("%d connections need %d open files here and in the server, and the limit is %d: raise it (ulimit -n), or ask for fewer (-idle, -slow)", connections, need, limit.Cur)
	}
	return nil
}
