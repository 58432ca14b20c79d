package app

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/devca"
)

// browser sends requests as the console's page does, and stores the cookies of the server.
type browser struct {
	t       *testing.T
	base    string
	client  *http.Client
	cookies map[string]string
}

func newBrowser(t *testing.T, base string) *browser {
	t.Helper()
	return &browser{t: t, base: base, cookies: map[string]string{}, client: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// reply is a server's response to a browser.
type reply struct {
	*http.Response

	text string
	body map[string]any
}

// ask sends a request as the page does. headers are pairs of name and value. An empty value removes the header.
func (b *browser) ask(method, path, body string, headers ...string) reply {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.base+path, strings.NewReader(body))
	require.NoError(b.t, err)
	r.Header.Set("X-Carve-Console", "1")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	w, err := b.client.Do(r)
	require.NoError(b.t, err)
	defer w.Body.Close()
	data, err := io.ReadAll(w.Body)
	require.NoError(b.t, err)
	for _, c := range w.Cookies() {
		b.cookies[c.Name] = c.Value
		if c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	got := reply{Response: w, text: string(data)}
	_ = json.Unmarshal(data, &got.body)
	return got
}

func (b *browser) signIn(key string) reply {
	b.t.Helper()
	w := b.ask(http.MethodPost, "/console/session", `{"key":"`+key+`"}`)
	require.Equal(b.t, http.StatusOK, w.StatusCode, w.text)
	return w
}

func (b *browser) may(status int, headers ...string) {
	b.t.Helper()
	w := b.ask(http.MethodGet, "/v1/whoami", "", headers...)
	require.Equal(b.t, status, w.StatusCode, w.text)
}

// consoleServer returns a server and its log.
func consoleServer(t *testing.T, dsn string, flags ...string) (*App, *lockedBuffer) {
	t.Helper()
	config, _, err := ParseConfig(append([]string{"--listen=127.0.0.1:0", "--max-connections=4", "--log-level=debug", "--database-url=" + dsn}, flags...), nil)
	require.NoError(t, err)
	logs := &lockedBuffer{}
	a, err := Start(t.Context(), config, logs)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close(context.Background())) })
	return a, logs
}

func TestConsoleSessionLifecycle(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	a, logs := consoleServer(t, dsn, "--auth=keys")
	other, _ := consoleServer(t, dsn, "--auth=keys")
	key, err := Bootstrap(t.Context(), dsn, "local")
	require.NoError(t, err)
	b := newBrowser(t, "http://"+a.Addr())

	w := b.ask(http.MethodGet, "/console/session", "")
	require.JSONEq(t, `{"signedIn":false,"methods":["key"],"issuers":[]}`, w.text)
	b.cookies["carve-session"] = strings.Repeat("A", 43) // as if an attacker had set it
	w = b.signIn(key)
	require.Equal(t, true, w.body["signedIn"])
	require.Regexp(t, "^key:platform/bootstrap", w.body["subject"])
	require.NotContains(t, w.text, key)
	cookie := w.Cookies()[0]
	require.NotEqual(t, strings.Repeat("A", 43), cookie.Value, "a session has no name that the browser brings")
	require.Equal(t, "carve-session", cookie.Name)
	require.True(t, cookie.HttpOnly)
	require.False(t, cookie.Secure, "by plain HTTP on loopback")
	require.Equal(t, http.SameSiteStrictMode, cookie.SameSite)
	require.Equal(t, "/", cookie.Path)
	require.Empty(t, cookie.Domain)
	require.InDelta(t, 12*time.Hour.Seconds(), cookie.MaxAge, time.Hour.Seconds())

	b.may(http.StatusOK)
	there := newBrowser(t, "http://"+other.Addr())
	there.cookies = b.cookies
	there.may(http.StatusOK)
	require.Equal(t, http.StatusOK, b.ask(http.MethodGet, "/console/session", "").StatusCode)

	again := b.signIn(key).Cookies()[0].Value
	require.NotEqual(t, cookie.Value, again)
	old := newBrowser(t, b.base)
	old.cookies["carve-session"] = cookie.Value
	old.may(http.StatusUnauthorized)

	w = b.ask(http.MethodDelete, "/console/session", "")
	require.Equal(t, http.StatusNoContent, w.StatusCode)
	require.Empty(t, b.cookies)
	for _, each := range []*App{a, other} {
		out := newBrowser(t, "http://"+each.Addr())
		out.cookies["carve-session"] = again
		out.may(http.StatusUnauthorized)
		w = out.ask(http.MethodGet, "/console/session", "")
		require.Equal(t, false, w.body["signedIn"])
		require.Empty(t, out.cookies, "it is taken from the browser")
	}
	rows := dbtest.Dump(t, dbtest.Connect(t, dsn, nil))
	for what, text := range map[string]string{"the log": logs.String(), "the database": dumped(rows)} {
		for _, secret := range []string{key[len(key)-52:], cookie.Value, again} {
			require.NotContains(t, text, secret, what)
		}
	}
}

func dumped(tables map[string][]string) string {
	var all strings.Builder
	for name, rows := range tables {
		all.WriteString(name + strings.Join(rows, "\n"))
	}
	return all.String()
}

func TestSessionCookieAloneGivesNoAccess(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	a, _ := consoleServer(t, dsn, "--auth=keys")
	key, err := Bootstrap(t.Context(), dsn, "local")
	require.NoError(t, err)
	b := newBrowser(t, "http://"+a.Addr())
	b.signIn(key)
	b.may(http.StatusOK, "Origin", b.base)
	b.may(http.StatusOK, "Sec-Fetch-Site", "same-origin")
	b.may(http.StatusUnauthorized, "X-Carve-Console", "")
	b.may(http.StatusUnauthorized, "X-Carve-Console", "yes")
	b.may(http.StatusUnauthorized, "Origin", "http://evil.example")
	b.may(http.StatusUnauthorized, "Origin", "null")
	b.may(http.StatusUnauthorized, "Sec-Fetch-Site", "cross-site")
	b.may(http.StatusUnauthorized, "Sec-Fetch-Site", "same-site")
	b.may(http.StatusUnauthorized, "Authorization", "Bearer nonsense")
	for _, foreign := range [][]string{{"X-Carve-Console", ""}, {"Origin", "http://evil.example"}, {"Sec-Fetch-Site", "cross-site"}} {
		w := b.ask(http.MethodDelete, "/console/session", "", foreign...)
		require.Equal(t, http.StatusForbidden, w.StatusCode)
		w = b.ask(http.MethodPost, "/console/session", `{"key":"`+key+`"}`, foreign...)
		require.Equal(t, http.StatusForbidden, w.StatusCode)
		require.Empty(t, w.Cookies())
		w = b.ask(http.MethodGet, "/console/session", "", foreign...)
		require.Equal(t, http.StatusOK, w.StatusCode)
		require.Equal(t, false, w.body["signedIn"])
	}
	b.may(http.StatusOK)
	twice := b.ask(http.MethodGet, "/v1/whoami", "", "Cookie", "carve-session=x")
	require.Equal(t, http.StatusUnauthorized, twice.StatusCode, "of two nobody knows which is ours")
}

func TestInvalidSignInIsRefused(t *testing.T) {
	t.Parallel()
	a, logs := consoleServer(t, dbtest.New(t), "--auth=keys", "--rate-limit-anonymous=4")
	b := newBrowser(t, "http://"+a.Addr())
	for body, status := range map[string]int{
		"": http.StatusUnsupportedMediaType, "{": http.StatusBadRequest, `{"key":""}`: http.StatusBadRequest, `{"key":"a","more":1}`: http.StatusBadRequest,
		`{"key":"a"} {}`: http.StatusBadRequest, `{"key":"a","key":"b"}`: http.StatusBadRequest, `{"KEY":"a"}`: http.StatusBadRequest, `{"key":"` + strings.Repeat("a", 8192) + `"}`: http.StatusBadRequest,
	} {
		w := b.ask(http.MethodPost, "/console/session", body)
		require.Equal(t, status, w.StatusCode, "%s: %s", body, w.text)
		require.Equal(t, "application/problem+json", w.Header.Get("Content-Type"))
	}
	guess := "carve_" + strings.Repeat("0", 32) + "_" + strings.Repeat("a", 52)
	for range 8 {
		w := b.ask(http.MethodPost, "/console/session", `{"key":"`+guess+`"}`)
		require.Equal(t, http.StatusUnauthorized, w.StatusCode, w.text)
		require.Empty(t, w.Cookies())
	}
	for n := 0; ; n++ { // on a slow machine, the server allows more guesses
		w := b.ask(http.MethodPost, "/console/session", `{"key":"`+guess+`"}`)
		if w.StatusCode == http.StatusTooManyRequests {
			break
		}
		require.Equal(t, http.StatusUnauthorized, w.StatusCode, w.text)
		require.Less(t, n, 1000, "it is never limited")
	}
	require.NotContains(t, logs.String(), guess)
}

// A session that was started with a key ends when the key is revoked, and when the project of the key is deleted.
func TestSessionEndsWithItsKey(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	a, _ := consoleServer(t, dsn, "--auth=keys")
	other, _ := consoleServer(t, dsn, "--auth=keys")
	key, err := Bootstrap(t.Context(), dsn, "local")
	require.NoError(t, err)
	admin := newBrowser(t, "http://"+a.Addr())
	admin.signIn(key)
	for _, project := range []string{"one", "two"} {
		require.Equal(t, http.StatusCreated, admin.ask(http.MethodPost, "/v1/projects", `{"metadata":{"name":"`+project+`"}}`).StatusCode)
		made := admin.ask(http.MethodPost, "/v1/projects/"+project+"/api-keys", `{"metadata":{"name":"ci"},"spec":{"role":"viewer"}}`)
		require.Equal(t, http.StatusCreated, made.StatusCode, made.text)
		token := tokenIn.FindString(made.text)
		b := newBrowser(t, admin.base)
		b.signIn(token)
		b.may(http.StatusOK)
		require.Equal(t, http.StatusOK, b.ask(http.MethodGet, "/v1/projects/"+project, "").StatusCode)
		require.NotEqual(t, http.StatusOK, b.ask(http.MethodGet, "/v1/projects/platform", "").StatusCode, "no more than the key")
		path := "/v1/projects/" + project
		if project == "one" {
			path += "/api-keys/ci"
		}
		etag := admin.ask(http.MethodGet, path, "").Header.Get("ETag")
		gone := admin.ask(http.MethodDelete, path, "", "If-Match", etag)
		require.Equal(t, http.StatusNoContent, gone.StatusCode, gone.text)
		elsewhere := newBrowser(t, "http://"+other.Addr())
		elsewhere.cookies = b.cookies
		elsewhere.may(http.StatusUnauthorized)
	}
	trail := admin.ask(http.MethodGet, "/v1/projects/one/audit-events", "")
	require.Equal(t, http.StatusOK, trail.StatusCode, trail.text)
	require.Contains(t, trail.text, "key:platform/bootstrap", "the trail names the key")
	require.NotContains(t, trail.text, admin.cookies["carve-session"])
}

func TestCookiesOverTLSAreSecure(t *testing.T) {
	t.Parallel()
	ca, dir, dsn := newCA(t, "ours"), t.TempDir(), dbtest.New(t)
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	issueTo(t, ca, devca.Leaf{Name: "server", Hosts: []string{"127.0.0.1"}}, certFile, keyFile)
	a, _ := consoleServer(t, dsn, "--auth=keys", "--tls-cert="+certFile, "--tls-key="+keyFile)
	key, err := Bootstrap(t.Context(), dsn, "local")
	require.NoError(t, err)
	b := newBrowser(t, "https://"+a.Addr())
	b.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: ca.Pool(), MinVersion: tls.VersionTLS12}}
	cookie := b.signIn(key).Cookies()[0]
	require.Equal(t, "__Host-carve-session", cookie.Name)
	require.True(t, cookie.Secure)
	require.True(t, cookie.HttpOnly)
	b.may(http.StatusOK)
	b.may(http.StatusUnauthorized, "Origin", "http://"+a.Addr())
	b.cookies = map[string]string{"carve-session": cookie.Value}
	b.may(http.StatusUnauthorized)
}

// The proxy ends TLS, so the server itself sees plain HTTP. The cookies must still require TLS.
func TestCookiesBehindAProxyAreSecure(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	a, _ := consoleServer(t, dsn, "--auth=keys")
	key, err := Bootstrap(t.Context(), dsn, "local")
	require.NoError(t, err)
	b := newBrowser(t, "http://"+a.Addr())
	w := b.ask(http.MethodPost, "/console/session", `{"key":"`+key+`"}`, "X-Forwarded-For", "192.0.2.1")
	require.Equal(t, "__Host-carve-session", w.Cookies()[0].Name)
	require.True(t, w.Cookies()[0].Secure)
}

func TestDevelopmentModeHasNoSignIn(t *testing.T) {
	t.Parallel()
	a, _ := consoleServer(t, dbtest.New(t), "--auth=dev")
	b := newBrowser(t, "http://"+a.Addr())
	require.JSONEq(t, `{"signedIn":true,"subject":"dev","methods":["dev"],"issuers":[]}`, b.ask(http.MethodGet, "/console/session", "").text)
	b.may(http.StatusOK)
	b.may(http.StatusUnauthorized, "Origin", "http://evil.example")
	w := b.ask(http.MethodPost, "/console/session", `{"key":"carve_x"}`)
	require.Equal(t, http.StatusUnauthorized, w.StatusCode)
	require.Equal(t, http.StatusNotFound, b.ask(http.MethodGet, "/console/login?issuer=corp", "").StatusCode)
}

func TestConsoleResponsesHaveSecurityHeaders(t *testing.T) {
	t.Parallel()
	a, _ := consoleServer(t, dbtest.New(t), "--auth=keys")
	b := newBrowser(t, "http://"+a.Addr())
	for _, ask := range [][2]string{
		{"GET", "/"}, {"GET", "/console/"}, {"GET", "/console/pools"}, {"GET", "/console/assets/none.js"}, {"GET", "/console/session"},
		{"POST", "/console/session"}, {"DELETE", "/console/session"}, {"GET", "/console/login"}, {"GET", "/console/callback"}, {"PUT", "/console/session"},
	} {
		w := b.ask(ask[0], ask[1], "", "Accept", "text/html")
		h := w.Header
		require.Contains(t, h.Get("Content-Security-Policy"), "default-src 'none'", ask)
		require.Contains(t, h.Get("Content-Security-Policy"), "frame-ancestors 'none'", ask)
		require.NotContains(t, h.Get("Content-Security-Policy"), "unsafe", ask)
		require.Equal(t, "nosniff", h.Get("X-Content-Type-Options"), ask)
		require.Equal(t, "DENY", h.Get("X-Frame-Options"), ask)
		require.Equal(t, "no-referrer", h.Get("Referrer-Policy"), ask)
		require.Equal(t, "same-origin", h.Get("Cross-Origin-Resource-Policy"), ask)
		require.NotEmpty(t, h.Get("X-Request-Id"), ask)
		if ask[1] != "/" {
			require.Equal(t, "no-store", h.Get("Cache-Control"), ask)
		}
		require.Empty(t, h.Get("Access-Control-Allow-Origin"), ask)
	}
}
