package app

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/testkit/devca"
)

// frontDoor is a TLS server with the flags and the clock of the test.
type frontDoor struct {
	address string
	config  Config
	files   files
	logs    *lockedBuffer

	mu  sync.Mutex
	now time.Time
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (d *frontDoor) later() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = d.now.Add(checkInterval)
}

func (d *frontDoor) clock() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now
}

// openFrontDoor starts a server whose certificate the CA server has signed. If clients is not nil, the server verifies the certificates of clients
// with this CA.
func openFrontDoor(t *testing.T, server, clients *devca.CA, flags ...string) *frontDoor {
	t.Helper()
	dir := t.TempDir()
	certFile, keyFile, caFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"), filepath.Join(dir, "ca.crt")
	issueTo(t, server, devca.Leaf{Name: "first", Hosts: []string{"127.0.0.1"}}, certFile, keyFile)
	flags = append(flags, "--auth=keys", "--tls-cert="+certFile, "--tls-key="+keyFile)
	if clients != nil {
		require.NoError(t, os.WriteFile(caFile, clients.PEM(), 0o600))
		flags = append(flags, "--tls-client-ca="+caFile)
	}
	d := &frontDoor{now: time.Now(), logs: &lockedBuffer{}}
	var err error
	d.config, _, err = ParseConfig(flags, nil)
	require.NoError(t, err)
	d.files, err = d.config.read(slog.New(slog.NewTextHandler(d.logs, nil)), d.clock)
	require.NoError(t, err)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &http.Server{
		ReadHeaderTimeout: time.Minute, TLSConfig: d.files.tls(d.config), ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }),
	}
	ended := make(chan error, 1)
	go func() { ended <- s.ServeTLS(l, "", "") }()
	t.Cleanup(func() {
		require.NoError(t, s.Close())
		require.ErrorIs(t, <-ended, http.ErrServerClosed)
	})
	d.address = l.Addr().String()
	return d
}

func issueTo(t *testing.T, ca *devca.CA, l devca.Leaf, certFile, keyFile string) {
	t.Helper()
	certificate, key, err := ca.Issue(l)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(certFile, certificate, 0o600))
	require.NoError(t, os.WriteFile(keyFile, key, 0o600))
}

func newCA(t *testing.T, name string) *devca.CA {
	t.Helper()
	ca, err := devca.New(name)
	require.NoError(t, err)
	return ca
}

// holding returns the TLS configuration of a client. The client trusts the CA trusted. If own is not nil, the client has a certificate from it.
func holding(t *testing.T, trusted, own *devca.CA, l devca.Leaf) *tls.Config {
	t.Helper()
	c := &tls.Config{RootCAs: trusted.Pool(), MinVersion: tls.VersionTLS12}
	if own != nil {
		certificate, key, err := own.Issue(l)
		require.NoError(t, err)
		pair, err := tls.X509KeyPair(certificate, key)
		require.NoError(t, err)
		// The client sends its certificate even if the server does not list the CA of the certificate. An attacker would do the same.
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	}
	return c
}

// visit connects and sends one request. The connection stays open.
func (d *frontDoor) visit(t *testing.T, c *tls.Config) (*tls.Conn, error) {
	t.Helper()
	conn, err := (&tls.Dialer{Config: c}).DialContext(t.Context(), "tcp", d.address)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = conn.Close() })
	secure, ok := conn.(*tls.Conn)
	require.True(t, ok)
	return secure, ask(secure)
}

// ask sends a request on a connection and reads the response. With TLS 1.3, the client finds out only now that the server has refused its
// certificate.
func ask(conn net.Conn) error {
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"); err != nil {
		return err
	}
	w, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return err
	}
	return w.Body.Close()
}

func TestClientCertificatesAreVerifiedByTheirCA(t *testing.T) {
	t.Parallel()
	ours, others := newCA(t, "ours"), newCA(t, "others")
	expired := devca.Leaf{Name: "team-a", NotAfter: time.Now().Add(-time.Minute)}
	good := devca.Leaf{Name: "team-a"}
	for name, tc := range map[string]struct {
		flags  []string
		client *tls.Config
		wrong  string
	}{
		"RightCertificate":            {client: holding(t, ours, ours, good)},
		"NoCertificate":               {client: holding(t, ours, nil, good), wrong: "certificate required"},
		"CertificateOfAnotherCA":      {client: holding(t, ours, others, good), wrong: "unknown certificate authority"},
		"ExpiredCertificate":          {client: holding(t, ours, ours, expired), wrong: "expired certificate"},
		"OptionalWithoutCertificate":  {flags: []string{"--tls-client-auth=optional"}, client: holding(t, ours, nil, good)},
		"OptionalAndOfAnotherCA":      {flags: []string{"--tls-client-auth=optional"}, client: holding(t, ours, others, good), wrong: "unknown certificate authority"},
		"OptionalAndExpired":          {flags: []string{"--tls-client-auth=optional"}, client: holding(t, ours, ours, expired), wrong: "expired certificate"},
		"RightCertificateWithOldTLS":  {client: withTLSVersion(holding(t, ours, ours, good), tls.VersionTLS12)},
		"NoCertificateWithOldTLS":     {client: withTLSVersion(holding(t, ours, nil, good), tls.VersionTLS12), wrong: "tls: "},
		"NewerThanTheOldestOneSpoken": {flags: []string{"--tls-min-version=1.3"}, client: holding(t, ours, ours, good)},
		"OlderThanTheOldestOneSpoken": {flags: []string{"--tls-min-version=1.3"}, client: withTLSVersion(holding(t, ours, ours, good), tls.VersionTLS12), wrong: "protocol version"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := openFrontDoor(t, ours, ours, tc.flags...).visit(t, tc.client)
			if tc.wrong == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.wrong)
		})
	}
}

// withTLSVersion limits a client to one version of TLS.
func withTLSVersion(c *tls.Config, v uint16) *tls.Config {
	c.MinVersion, c.MaxVersion = v, v
	return c
}

func TestClientCAsAreRotatedWithoutARestart(t *testing.T) {
	t.Parallel()
	server, before, after := newCA(t, "server"), newCA(t, "before"), newCA(t, "after")
	d := openFrontDoor(t, server, before)
	first := holding(t, server, before, devca.Leaf{Name: "team-a"})
	first.ClientSessionCache = tls.NewLRUClientSessionCache(8)
	second := holding(t, server, after, devca.Leaf{Name: "team-a"})
	open, err := d.visit(t, first)
	require.NoError(t, err)
	_, err = d.visit(t, second)
	require.ErrorContains(t, err, "unknown certificate authority")

	require.NoError(t, os.WriteFile(d.config.TLSClientCA, append(before.PEM(), after.PEM()...), 0o600))
	d.later()
	for _, client := range []*tls.Config{first, second} {
		_, err = d.visit(t, client)
		require.NoError(t, err, "both, while clients change over")
	}
	require.NoError(t, os.WriteFile(d.config.TLSClientCA, after.PEM(), 0o600))
	d.later()
	_, err = d.visit(t, second)
	require.NoError(t, err)
	_, err = d.visit(t, first)
	require.ErrorContains(t, err, "unknown certificate authority", "not by resuming a session of before either")
	require.NoError(t, ask(open), "a connection that is open stays")

	require.NoError(t, os.WriteFile(d.config.TLSClientCA, []byte("half of a renewal"), 0o600))
	d.later()
	_, err = d.visit(t, second)
	require.NoError(t, err, "the last good ones")
	require.Contains(t, d.logs.String(), "the CAs of --tls-client-ca")
	require.Contains(t, d.logs.String(), "cannot use the renewed files")
}

func TestServerCertificateIsRenewedWhileConnectionsAreOpen(t *testing.T) {
	t.Parallel()
	ca := newCA(t, "ours")
	d := openFrontDoor(t, ca, nil)
	client := holding(t, ca, nil, devca.Leaf{})
	name := func(c *tls.Conn) string { return c.ConnectionState().PeerCertificates[0].Subject.CommonName }
	open, err := d.visit(t, client)
	require.NoError(t, err)
	require.Equal(t, "first", name(open))

	require.NoError(t, os.WriteFile(d.config.TLSKey, []byte("half of a renewal"), 0o600))
	d.later()
	during, err := d.visit(t, client)
	require.NoError(t, err)
	require.Equal(t, "first", name(during), "the last good one")
	require.Contains(t, d.logs.String(), "cannot use the renewed files")

	issueTo(t, ca, devca.Leaf{Name: "the second one", Hosts: []string{"127.0.0.1"}}, d.config.TLSCert, d.config.TLSKey)
	d.later()
	renewed, err := d.visit(t, client)
	require.NoError(t, err)
	require.Equal(t, "the second one", name(renewed))
	require.Contains(t, d.logs.String(), "msg=renewed")
	require.NoError(t, ask(open), "nobody is cut off")
	require.NoError(t, ask(during))
}

func TestPlainHTTPOnATLSPortGetsAnExplanation(t *testing.T) {
	t.Parallel()
	ca := newCA(t, "ours")
	d := openFrontDoor(t, ca, nil)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", d.address)
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "GET /v1/projects HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer x\r\n\r\n")
	require.NoError(t, err)
	said, err := io.ReadAll(conn)
	require.NoError(t, err)
	require.Contains(t, string(said), "400 Bad Request")
	require.Contains(t, string(said), "Client sent an HTTP request to an HTTPS server.")
}

func TestHTTP2IsServedOverTLS(t *testing.T) {
	t.Parallel()
	ca := newCA(t, "ours")
	for name, clients := range map[string]*devca.CA{"WithoutClientCAs": nil, "WithClientCAs": ca} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := openFrontDoor(t, ca, clients)
			transport := &http.Transport{TLSClientConfig: holding(t, ca, ca, devca.Leaf{Name: "team-a"}), ForceAttemptHTTP2: true}
			defer transport.CloseIdleConnections()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+d.address+"/", http.NoBody)
			require.NoError(t, err)
			w, err := transport.RoundTrip(r)
			require.NoError(t, err)
			defer w.Body.Close()
			require.Equal(t, 2, w.ProtoMajor)
		})
	}
}
