package hostile

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/carve-ipam/carve/internal/testkit/devca"
	"github.com/carve-ipam/carve/lab/apicall"
	"github.com/carve-ipam/carve/lab/serverproc"
)

// server is the real server in a separate process, with its default limits.
type server struct {
	*serverproc.Server
	api    apicall.Caller // the load's calls
	secure *tls.Config    // nil for plain HTTP
	bad    []string       // keys of the attacker's project, because an attacker may be a tenant
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
	s.api = apicall.Caller{URL: scheme + s.Addr(), HTTP: &http.Client{Transport: &http.Transport{TLSClientConfig: s.secure, MaxIdleConnsPerHost: 64}}}
	if s.api.Key, err = s.AdminKey(ctx); err == nil {
		err = s.furnish(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// certify makes the certificates for the server's TLS and returns the server's flags for them.
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

// dial opens a connection for an attacker.
func (s *server) dial(ctx context.Context) (net.Conn, error) {
	if s.secure != nil {
		return (&tls.Dialer{Config: s.secure}).DialContext(ctx, "tcp", s.Addr())
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", s.Addr())
}

// badKey returns the attacker's keys, one after another.
func (s *server) badKey() string { return s.bad[s.turn.Add(1)%int64(len(s.bad))] }
