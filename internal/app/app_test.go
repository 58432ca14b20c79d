package app

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// launch starts a server on a free loopback port. The server stops at the end of the test, or earlier when the test calls stop.
func launch(t *testing.T, flags ...string) (a *App, stop func()) {
	t.Helper()
	config, _, err := ParseConfig(append([]string{"--listen=127.0.0.1:0", "--request-timeout=60s", "--max-connections=4"}, flags...), nil)
	require.NoError(t, err)
	a, err = Start(t.Context(), config, t.Output())
	require.NoError(t, err)
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			require.NoError(t, a.Close(context.Background()))
		}
	}
	t.Cleanup(stop)
	return a, stop
}

func greeting(a *App) string {
	var b bytes.Buffer
	a.Greet(&b)
	return b.String()
}

// answer is a server's response.
type answer struct {
	status int
	header http.Header
	body   map[string]any
}

func get(t *testing.T, client *http.Client, url, token string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w, err := client.Do(r)
	require.NoError(t, err)
	defer w.Body.Close()
	data, err := io.ReadAll(w.Body)
	require.NoError(t, err)
	a := answer{status: w.StatusCode, header: w.Header}
	require.NoError(t, json.Unmarshal(data, &a.body), string(data))
	return a
}

var tokenIn = regexp.MustCompile(`carve_[0-9a-f]{32}_[a-z2-7]{52}`)

func TestExternalDatabaseNeedsABootstrapKey(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	flags := []string{"--auth=keys", "--database-url=" + dsn}
	a, stop := launch(t, flags...)
	said := greeting(a)
	require.Contains(t, said, "ipamctl bootstrap --database-url=")
	require.NotRegexp(t, tokenIn, said, "no key is made behind the operator's back")
	require.Empty(t, a.BootstrapToken())
	whoami := "http://" + a.Addr() + "/v1/whoami"

	refused := get(t, http.DefaultClient, whoami, "")
	require.Equal(t, http.StatusUnauthorized, refused.status)
	require.Equal(t, "Bearer", refused.header.Get("WWW-Authenticate"))
	require.Empty(t, refused.header.Get("Carve-Auth"))

	token, err := Bootstrap(t.Context(), dsn, "local")
	require.NoError(t, err)
	admitted := get(t, http.DefaultClient, whoami, token)
	require.Equal(t, http.StatusOK, admitted.status, admitted.body)
	require.Contains(t, admitted.body["subject"], "key:platform/bootstrap-")
	require.Equal(t, `"reads";q=1000;w=2`, admitted.header.Get("RateLimit-Policy"))
	stop()

	t.Run("LastUseIsWrittenWhenTheServerStops", func(t *testing.T) {
		store, err := crdb.Open(t.Context(), dsn, crdb.Options{Region: "local"})
		require.NoError(t, err)
		defer store.Close()
		platform, err := store.ProjectGet(t.Context(), ipam.PlatformProject)
		require.NoError(t, err)
		keys, err := store.KeyList(t.Context(), ipam.ProjectKey{ID: platform.UID, Name: platform.Name}, "", 10)
		require.NoError(t, err)
		require.Len(t, keys, 1)
		require.False(t, keys[0].LastUsedAt.IsZero())
	})
	t.Run("NoHintWhenAnAdminExists", func(t *testing.T) {
		again, _ := launch(t, flags...)
		require.NotContains(t, greeting(again), "ipamctl bootstrap")
	})
}

// A supervisor may store the standard output. So the key can go into a file that only the server's user can read.
func TestFirstStartOfAnEmbeddedDatabaseWritesItsKeyToAFile(t *testing.T) {
	t.Parallel()
	parent, err := os.MkdirTemp("", "carve")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(parent) })
	require.NoError(t, os.Chmod(parent, 0o755))
	file := filepath.Join(parent, "admin.key")
	flags := []string{"--auth=keys", "--data-dir=" + filepath.Join(parent, "data"), "--admin-key-file=" + file}

	a, stop := launch(t, flags...)
	require.NotRegexp(t, tokenIn, greeting(a))
	require.Contains(t, greeting(a), file)
	kept, err := os.ReadFile(file)
	require.NoError(t, err)
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	who := get(t, http.DefaultClient, "http://"+a.Addr()+"/v1/whoami", strings.TrimSpace(string(kept)))
	require.Equal(t, "key:platform/bootstrap", who.body["subject"])
	stop()

	launch(t, flags...)
	again, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, kept, again, "the second start makes none")
}

func TestFirstStartOfAnEmbeddedDatabaseShowsOneKey(t *testing.T) {
	t.Parallel()
	parent, err := os.MkdirTemp("", "carve")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(parent) })
	require.NoError(t, os.Chmod(parent, 0o755))
	flags := []string{"--auth=keys", "--data-dir=" + filepath.Join(parent, "data")}

	a, stop := launch(t, flags...)
	said := greeting(a)
	tokens := tokenIn.FindAllString(said, -1)
	require.Equal(t, []string{a.BootstrapToken()}, tokens, "shown once")
	who := get(t, http.DefaultClient, "http://"+a.Addr()+"/v1/whoami", tokens[0])
	require.Equal(t, "key:platform/bootstrap", who.body["subject"])
	stop()

	again, _ := launch(t, flags...)
	require.NotRegexp(t, tokenIn, greeting(again), "the second start makes none")
	who = get(t, http.DefaultClient, "http://"+again.Addr()+"/v1/whoami", tokens[0])
	require.Equal(t, http.StatusOK, who.status, "the first one goes on")
}

func TestHTTPS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	roots := x509.NewCertPool()
	roots.AddCert(writeCertificate(t, certFile, keyFile, "server"))
	a, _ := launch(t, "--auth=keys", "--database-url="+dbtest.New(t), "--tls-cert="+certFile, "--tls-key="+keyFile)
	require.Contains(t, greeting(a), "https://"+a.Addr()+"/docs/")
	client := func(newest uint16) *http.Client {
		return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS10, MaxVersion: newest}}}
	}
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		require.Equal(t, http.StatusUnauthorized, get(t, client(version), "https://"+a.Addr()+"/v1/whoami", "").status)
	}
	for header, want := range map[string]string{
		"Strict-Transport-Security": "max-age=31536000", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
		"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "Cross-Origin-Resource-Policy": "same-origin", "Server": "",
	} {
		require.Equal(t, want, get(t, client(tls.VersionTLS13), "https://"+a.Addr()+"/v1/whoami", "").header.Get(header), header)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+a.Addr()+"/healthz", http.NoBody)
	require.NoError(t, err)
	w, err := client(tls.VersionTLS11).Do(r)
	if err == nil {
		w.Body.Close()
	}
	require.ErrorContains(t, err, "protocol version")
}

func TestUnreadableFilesFailTheStart(t *testing.T) {
	t.Parallel()
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	for name, flags := range map[string][]string{
		"--oidc-config": {"--auth=oidc", "--oidc-config=" + nowhere},
		"--tls-cert":    {"--auth=keys", "--tls-cert=" + nowhere, "--tls-key=" + nowhere},
	} {
		config, _, err := ParseConfig(append(flags, "--database-url=postgres://nobody@127.0.0.1:1/x"), nil)
		require.NoError(t, err)
		_, err = Start(t.Context(), config, t.Output())
		require.ErrorContains(t, err, name)
		require.NotContains(t, err.Error(), "127.0.0.1", "before the database is asked")
	}
}

func TestRateLimitFlagsApply(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	a, _ := launch(t, "--auth=keys", "--database-url="+dsn, "--rate-limit-anonymous=1", "--rate-limit-reads=0")
	ask := func() int { return get(t, http.DefaultClient, "http://"+a.Addr()+"/v1/whoami", "").status }
	require.Equal(t, http.StatusUnauthorized, ask())
	last := 0
	for tries := 0; last != http.StatusTooManyRequests && tries < 1000; tries++ { // these requests arrive faster than one a second
		last = ask()
	}
	require.Equal(t, http.StatusTooManyRequests, last)

	other, _ := launch(t, "--auth=keys,dev", "--database-url="+dsn, "--rate-limit-reads=0")
	token, err := Bootstrap(t.Context(), dsn, "local")
	require.NoError(t, err)
	w := get(t, http.DefaultClient, "http://"+other.Addr()+"/v1/whoami", token)
	require.Equal(t, http.StatusOK, w.status)
	require.Empty(t, w.header.Get("RateLimit"), "0 is no limit")
	require.True(t, strings.HasPrefix(get(t, http.DefaultClient, "http://"+other.Addr()+"/v1/whoami", "").body["subject"].(string), "dev"))
}
