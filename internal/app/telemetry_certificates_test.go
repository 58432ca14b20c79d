package app

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/telemetry"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/devca"
)

// expiryOf returns the expiry of the first certificate in a PEM text, as the metrics write it.
func expiryOf(t *testing.T, text []byte) string {
	t.Helper()
	block, _ := pem.Decode(text)
	require.NotNil(t, block)
	made, err := x509.ParseCertificate(block.Bytes)
	require.NoError(t, err)
	return strconv.FormatFloat(float64(made.NotAfter.Unix()), 'g', -1, 64)
}

func expiryIn(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return expiryOf(t, text)
}

// toldOf returns a function that reads the metrics of certificates, by series. No client connects, because reading the metrics is enough to check the
// files.
func (d *frontDoor) toldOf(t *testing.T) func() map[string]string {
	t.Helper()
	m, err := telemetry.New(t.Context(), telemetry.Options{Env: func(string) string { return "" }})
	require.NoError(t, err)
	require.NoError(t, (&App{metrics: m}).watchCertificates(d.files))
	return func() map[string]string {
		w := httptest.NewRecorder()
		m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
		out := map[string]string{}
		for line := range strings.Lines(w.Body.String()) {
			if series, value, found := strings.Cut(strings.TrimSpace(line), " "); found && strings.HasPrefix(line, "carve_certificate_") {
				out[strings.TrimPrefix(series, "carve_certificate_")] = value
			}
		}
		return out
	}
}

const (
	serverExpires = `expiry_timestamp_seconds{certificate="server"}`
	serverWaits   = `reload_failed{certificate="server"}`
	serverTaken   = `reloads_total{certificate="server",outcome="ok"}`
	serverFailed  = `reloads_total{certificate="server",outcome="failed"}`
	casExpire     = `expiry_timestamp_seconds{certificate="client_ca"}`
	casWait       = `reload_failed{certificate="client_ca"}`
	casTaken      = `reloads_total{certificate="client_ca",outcome="ok"}`
	casFailed     = `reloads_total{certificate="client_ca",outcome="failed"}`
)

func TestMetricsReportRenewedAndBrokenCertificates(t *testing.T) {
	t.Parallel()
	ca := newCA(t, "ours")
	d := openFrontDoor(t, ca, nil)
	told := d.toldOf(t)
	want := map[string]string{serverExpires: expiryIn(t, d.config.TLSCert), serverWaits: "0", serverTaken: "0", serverFailed: "0"}
	require.Equal(t, want, told(), "and nothing of CAs that there are not")

	issueTo(t, ca, devca.Leaf{Name: "the second one", Hosts: []string{"127.0.0.1"}, NotAfter: time.Now().Add(90 * 24 * time.Hour)}, d.config.TLSCert, d.config.TLSKey)
	require.Equal(t, want, told(), "the files are not looked at each time")
	d.later()
	require.NotEqual(t, want[serverExpires], expiryIn(t, d.config.TLSCert))
	want[serverExpires], want[serverTaken] = expiryIn(t, d.config.TLSCert), "1"
	require.Equal(t, want, told())
	d.later()
	require.Equal(t, want, told(), "what has not changed is not taken again")

	good, err := os.ReadFile(d.config.TLSKey)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(d.config.TLSKey, []byte("half of a renewal"), 0o600))
	d.later()
	want[serverWaits], want[serverFailed] = "1", "1"
	require.Equal(t, want, told(), "the last good one is shown still")
	d.later()
	want[serverFailed] = "2"
	require.Equal(t, want, told())
	conn, err := d.visit(t, holding(t, ca, nil, devca.Leaf{}))
	require.NoError(t, err)
	shown := conn.ConnectionState().PeerCertificates[0]
	require.Equal(t, want[serverExpires], expiryOf(t, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: shown.Raw})), "what is told is what clients see")

	require.NoError(t, os.Remove(d.config.TLSKey))
	d.later()
	want[serverFailed] = "3"
	require.Equal(t, want, told(), "a file that is gone cannot be used either")
	require.NoError(t, os.WriteFile(d.config.TLSKey, good, 0o600))
	d.later()
	want[serverWaits], want[serverTaken] = "0", "2"
	require.Equal(t, want, told(), "it is over")
}

func TestMetricsReportTheFirstClientCAToExpire(t *testing.T) {
	t.Parallel()
	server, first := newCA(t, "server"), newCA(t, "first")
	last, err := devca.NewUntil("last", time.Now().Add(90*24*time.Hour))
	require.NoError(t, err)
	d := openFrontDoor(t, server, last)
	told := d.toldOf(t)
	want := map[string]string{
		serverExpires: expiryIn(t, d.config.TLSCert), serverWaits: "0", serverTaken: "0", serverFailed: "0",
		casExpire: expiryOf(t, last.PEM()), casWait: "0", casTaken: "0", casFailed: "0",
	}
	require.Equal(t, want, told())

	require.NoError(t, os.WriteFile(d.config.TLSClientCA, append(last.PEM(), first.PEM()...), 0o600))
	d.later()
	want[casExpire], want[casTaken] = expiryOf(t, first.PEM()), "1"
	require.Equal(t, want, told(), "while clients change over")
	require.NoError(t, os.WriteFile(d.config.TLSClientCA, []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), 0o600))
	d.later()
	want[casWait], want[casFailed] = "1", "1"
	require.Equal(t, want, told(), "and nothing is said of the server's own")
	require.NoError(t, os.WriteFile(d.config.TLSClientCA, last.PEM(), 0o600))
	d.later()
	want[casExpire], want[casWait], want[casTaken] = expiryOf(t, last.PEM()), "0", "2"
	require.Equal(t, want, told())
}

func TestMetricsReportTheServerCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	ca := newCA(t, "ours")
	issueTo(t, ca, devca.Leaf{Name: "carve", Hosts: []string{"127.0.0.1"}}, certFile, keyFile)
	a, _ := launch(t, "--auth=dev", "--database-url="+dbtest.New(t), "--metrics-pools=0", "--tls-cert="+certFile, "--tls-key="+keyFile)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: ca.Pool(), MinVersion: tls.VersionTLS12}, DisableKeepAlives: true}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+a.Addr()+"/metrics", http.NoBody)
	require.NoError(t, err)
	w, err := client.Do(r)
	require.NoError(t, err)
	defer w.Body.Close()
	text, err := io.ReadAll(w.Body)
	require.NoError(t, err)
	require.Contains(t, string(text), "\ncarve_certificate_"+serverExpires+" "+expiryIn(t, certFile)+"\n")
	require.Contains(t, string(text), "\ncarve_certificate_"+serverWaits+" 0\n")
}
