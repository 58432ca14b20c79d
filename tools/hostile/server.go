package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/carve-ipam/carve/internal/devca"
	"github.com/carve-ipam/carve/internal/serverproc"
)

// server is the real one, in a process of its own, with its bounds as they are when nobody says otherwise.
type server struct {
	*serverproc.Server
	url    string
	client *http.Client // of the load
	secure *tls.Config  // nil: plain HTTP
	good   string       // the key of the load's project
	bad    []string     // the keys of the attacker's project: attackers may be tenants
	turn   atomic.Int64
	claims atomic.Int64
}

func startServer(ctx context.Context, o options) (*server, error) {
	s, scheme := &server{}, "http://"
	args := []string{"--auth=keys", "--log-level=warn"}
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
	if s.Server, err = serverproc.Start(ctx, serverproc.Options{Program: o.server, Args: args, Data: o.data, Log: log}); err != nil {
		return nil, err
	}
	s.url = scheme + s.Addr()
	s.client = &http.Client{Transport: &http.Transport{TLSClientConfig: s.secure, MaxIdleConnsPerHost: 64}}
	key, err := s.AdminKey(ctx)
	if err == nil {
		err = s.furnish(ctx, key)
	}
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
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
		return (&tls.Dialer{Config: s.secure}).DialContext(ctx, "tcp", s.Addr())
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", s.Addr())
}

// badKey is one of the attacker's keys, in turn.
func (s *server) badKey() string { return s.bad[s.turn.Add(1)%int64(len(s.bad))] }

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
	return fmt.Sprintf("/proc/%d/%s", s.Pid(), what)
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
