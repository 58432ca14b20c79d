package app

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/devca"
)

// status returns the status and body of a GET.
func status(t *testing.T, client *http.Client, url string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	w, err := client.Do(r)
	require.NoError(t, err)
	defer w.Body.Close()
	data, err := io.ReadAll(w.Body)
	require.NoError(t, err)
	return w.StatusCode, string(data)
}

func TestAdminListenerServesMetricsAndPprof(t *testing.T) {
	t.Parallel()
	a, _ := launch(t, "--auth=dev", "--database-url="+dbtest.New(t), "--admin-listen=127.0.0.1:0", "--metrics=admin")
	for path, want := range map[string]struct{ admin, main int }{
		"/healthz":                            {200, 200},
		"/readyz":                             {200, 200},
		"/metrics":                            {200, 404},
		"/debug/pprof/":                       {200, 404},
		"/debug/pprof/heap":                   {200, 404},
		"/debug/pprof/goroutine?debug=1":      {200, 404},
		"/debug/pprof/profile?seconds=1":      {200, 404},
		"/debug/pprof/trace?seconds=0.1":      {200, 404},
		"/debug/pprof/cmdline":                {404, 404},
		"/debug/pprof/symbol":                 {404, 404},
		"/debug/vars":                         {404, 404},
		"/v1/projects":                        {404, 200},
		"/v1/whoami":                          {404, 200},
		"/docs/":                              {404, 200},
		"/openapi.yaml":                       {404, 200},
		"/problems/not_found":                 {404, 200},
		"/healthz/../v1/projects":             {404, 404},
		"/healthz/..%2fv1/projects":           {404, 404},
		"/":                                   {404, 200},
		"/debug/pprof/heap/../../v1/projects": {404, 404},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			got, said := status(t, http.DefaultClient, "http://"+a.AdminAddr()+path)
			require.Equal(t, want.admin, got, said)
			got, said = status(t, http.DefaultClient, "http://"+a.Addr()+path)
			require.Equal(t, want.main, got, said)
		})
	}
}

func TestMetricsFlagDecidesWhereMetricsAreServed(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	for word, want := range map[string]struct{ main, admin, stranger int }{
		"loopback": {200, 200, 404}, "admin": {404, 200, 200}, "open": {200, 200, 200}, "off": {404, 404, 404},
	} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			a, _ := launch(t, "--auth=keys", "--database-url="+dsn, "--admin-listen=127.0.0.1:0", "--metrics="+word)
			got, _ := status(t, http.DefaultClient, "http://"+a.Addr()+"/metrics")
			require.Equal(t, want.main, got)
			got, _ = status(t, http.DefaultClient, "http://"+a.AdminAddr()+"/metrics")
			require.Equal(t, want.admin, got)
			for path, want := range map[string]int{"/metrics": want.stranger, "/debug/pprof/heap": 404, "/debug/pprof/": 404, "/healthz": 200} {
				w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
				r.RemoteAddr = "192.0.2.7:1234"
				a.admin.server.Handler.ServeHTTP(w, r)
				require.Equal(t, want, w.Code, "%s, asked from elsewhere", path)
			}
		})
	}
}

func TestPprofRefusesAnotherHostName(t *testing.T) {
	t.Parallel()
	a, _ := launch(t, "--auth=dev", "--database-url="+dbtest.New(t), "--admin-listen=127.0.0.1:0")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+a.AdminAddr()+"/debug/pprof/heap", http.NoBody)
	require.NoError(t, err)
	r.Host = "attacker.example"
	w, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer w.Body.Close()
	require.Equal(t, http.StatusNotFound, w.StatusCode)
}

func TestReadinessProbeFailsWhileDraining(t *testing.T) {
	t.Parallel()
	a, _ := launch(t, "--auth=dev", "--database-url="+dbtest.New(t), "--admin-listen=127.0.0.1:0")
	a.draining.Store(true)
	got, _ := status(t, http.DefaultClient, "http://"+a.AdminAddr()+"/readyz")
	require.Equal(t, http.StatusServiceUnavailable, got)
	got, _ = status(t, http.DefaultClient, "http://"+a.AdminAddr()+"/healthz")
	require.Equal(t, http.StatusOK, got)
}

func TestAdminListenerStopsWithTheServer(t *testing.T) {
	t.Parallel()
	a, stop := launch(t, "--auth=dev", "--database-url="+dbtest.New(t), "--admin-listen=127.0.0.1:0")
	stop()
	_, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", a.AdminAddr())
	require.Error(t, err)
}

func TestAdminAddressInUseFailsTheStart(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	config, _, err := ParseConfig([]string{"--auth=dev", "--listen=127.0.0.1:0", "--database-url=" + dbtest.New(t), "--admin-listen=" + l.Addr().String()}, nil)
	require.NoError(t, err)
	_, err = Start(t.Context(), config, t.Output())
	require.ErrorContains(t, err, "--admin-listen")
}

// Beyond loopback the admin listener uses TLS with the server's certificate. It accepts clients without a certificate, such as a kubelet.
func TestAdminListenerBeyondLoopbackUsesTLS(t *testing.T) {
	t.Parallel()
	ca, dir := newCA(t, "ours"), t.TempDir()
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	issueTo(t, ca, devca.Leaf{Name: "server", Hosts: []string{"127.0.0.1"}}, certFile, keyFile)
	a, _ := launch(t, "--auth=keys", "--database-url="+dbtest.New(t), "--tls-cert="+certFile, "--tls-key="+keyFile, "--tls-client-ca="+certFile, "--admin-listen=0.0.0.0:0", "--metrics=admin")
	_, port, err := net.SplitHostPort(a.AdminAddr())
	require.NoError(t, err)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: ca.Pool(), MinVersion: tls.VersionTLS12}}}
	for path, want := range map[string]int{"/healthz": 200, "/metrics": 200, "/v1/whoami": 404} {
		got, _ := status(t, client, "https://127.0.0.1:"+port+path)
		require.Equal(t, want, got, path)
	}
	_, err = client.Get("https://" + a.Addr() + "/healthz")
	require.ErrorContains(t, err, "certificate required", "the API still wants one")
}

// The admin listener also refuses a request head that two parsers could read differently, and closes the connection.
func TestAdminListenerRefusesAmbiguousHeaders(t *testing.T) {
	t.Parallel()
	a, _ := launch(t, "--auth=dev", "--database-url="+dbtest.New(t), "--admin-listen=127.0.0.1:0")
	for name, head := range map[string]string{
		"ABareLineFeed": "GET /healthz HTTP/1.1\nHost: x\r\n\r\n",
		"AFoldedLine":   "GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: b\r\n c\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, said, closed := raw(t, a.AdminAddr(), strings.NewReader(head))
			require.Equal(t, http.StatusBadRequest, got, said)
			require.True(t, closed)
		})
	}
}
