package app

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// consolePaths are the paths that the console adds to a server, and "/".
var consolePaths = []string{"/", "/console", "/console/", "/console/projects/a", "/console/assets/icon.svg", "/console/session", "/console/login", "/console/callback"}

// A new sign-in at an issuer ends the old session. When the browser returns from the issuer, it sends no session cookie, because the issuer is
// another site. So the server must remember the old session when the sign-in begins.
func TestNewSignInAtAnIssuerEndsTheOldSession(t *testing.T) {
	t.Parallel()
	p := startProvider(t, "")
	dsn := dbtest.New(t)
	a, logs := consoleServer(t, dsn, "--auth=oidc,keys", "--oidc-config="+p.config(t))
	key, err := Bootstrap(t.Context(), dsn, "local")
	require.NoError(t, err)
	b := newBrowser(t, "http://"+a.Addr())
	b.signIn(key)
	for range 2 {
		before := b.cookies["carve-session"]
		back := b.there(login)
		delete(b.cookies, "carve-session") // as for a SameSite=Strict cookie
		w := b.ask(http.MethodGet, back.RequestURI(), "", "X-Carve-Console", "")
		require.Equal(t, http.StatusSeeOther, w.StatusCode, w.text)
		require.NotEqual(t, before, b.cookies["carve-session"])
		b.may(http.StatusOK)
		old := newBrowser(t, b.base)
		old.cookies["carve-session"] = before
		old.may(http.StatusUnauthorized)
		require.NotContains(t, logs.String(), before)
	}
	require.Len(t, dbtest.Dump(t, dbtest.Connect(t, dsn, nil))["sessions"], 1)

	// A user who cancels at the issuer keeps the session.
	back := b.there(login)
	w := b.ask(http.MethodGet, back.Path+"?error=access_denied&state="+back.Query().Get("state"), "", "X-Carve-Console", "")
	require.Equal(t, http.StatusUnauthorized, w.StatusCode)
	b.may(http.StatusOK)
}

func TestCrossSiteLoginLinkAsksForConfirmation(t *testing.T) {
	t.Parallel()
	p := startProvider(t, "")
	a, _ := consoleServer(t, dbtest.New(t), "--auth=oidc", "--oidc-config="+p.config(t))
	b := newBrowser(t, "http://"+a.Addr())
	path := login + `&x="><script>alert(1)</script>`
	w := b.ask(http.MethodGet, strings.ReplaceAll(path, " ", "%20"), "", "X-Carve-Console", "", "Sec-Fetch-Site", "cross-site")
	require.Equal(t, http.StatusOK, w.StatusCode, w.text)
	require.Empty(t, w.Header.Get("Location"))
	require.Empty(t, b.cookies)
	require.Contains(t, w.text, `<a href="/console/login?issuer=corp&amp;return=/console/pools&amp;`)
	require.NotContains(t, w.text, "<script")
	w = b.ask(http.MethodGet, login, "", "X-Carve-Console", "", "Sec-Fetch-Site", "same-origin")
	require.Equal(t, http.StatusSeeOther, w.StatusCode)
}

// Guesses of keys and of sessions share one limit on all paths. A forged client address does not raise the limit.
func TestConsoleGuessesShareTheAnonymousLimit(t *testing.T) {
	t.Parallel()
	guess := "carve_" + strings.Repeat("0", 32) + "_" + strings.Repeat("a", 52)
	for name, try := range map[string]func(b *browser, i int) reply{
		"keys": func(b *browser, i int) reply {
			return b.ask(http.MethodPost, "/console/session", `{"key":"`+guess+`"}`, "X-Forwarded-For", fmt.Sprintf("192.0.2.%d", i), "X-Real-Ip", fmt.Sprintf("192.0.2.%d", i))
		},
		"sessions": func(b *browser, i int) reply {
			b.cookies["carve-session"] = fmt.Sprintf("%043d", i)
			return b.ask(http.MethodGet, "/v1/whoami", "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := dbtest.New(t)
			a, logs := consoleServer(t, dsn, "--auth=keys", "--rate-limit-anonymous=1")
			key, err := Bootstrap(t.Context(), dsn, "local")
			require.NoError(t, err)
			valid := newBrowser(t, "http://"+a.Addr())
			valid.signIn(key)
			valid.may(http.StatusOK)
			b := newBrowser(t, "http://"+a.Addr())
			// The limit allows two guesses at once, and one more each second. So a slow machine allows more guesses.
			began := time.Now()
			taken := 0
			for i, refused := 0, 0; refused < 6; i++ {
				if w := try(b, i); w.StatusCode == http.StatusTooManyRequests {
					require.NotEmpty(t, w.Header.Get("Retry-After"))
					refused++
				} else {
					taken++
				}
				require.LessOrEqual(t, taken, 2+int(time.Since(began)/time.Second))
			}
			b.cookies = map[string]string{}
			for _, other := range []func() reply{
				func() reply { return b.ask(http.MethodPost, "/console/session", `{"key":"`+guess[:len(guess)-1]+`b"}`) },
				func() reply { return b.ask(http.MethodGet, "/v1/whoami", "", "Authorization", "Bearer "+guess) },
			} {
				for w := other(); w.StatusCode != http.StatusTooManyRequests; w = other() {
					taken++
					require.LessOrEqual(t, taken, 2+int(time.Since(began)/time.Second), "the other way has no tries of its own: %s", w.text)
				}
			}
			valid.may(http.StatusOK)
			require.NotContains(t, logs.String(), strings.Repeat("a", 52))
		})
	}
}

// A path accepts only its own methods. No header or parameter turns one method into another.
func TestConsoleRefusesOtherMethods(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	a, _ := consoleServer(t, dsn, "--auth=keys")
	key, err := Bootstrap(t.Context(), dsn, "local")
	require.NoError(t, err)
	b := newBrowser(t, "http://"+a.Addr())
	b.signIn(key)
	for _, path := range consolePaths {
		has := map[string]bool{http.MethodGet: true, http.MethodHead: true, http.MethodPost: path == "/console/session", http.MethodDelete: path == "/console/session"}
		for _, method := range []string{http.MethodPut, http.MethodPatch, http.MethodOptions, http.MethodTrace, http.MethodConnect, "PROPFIND", http.MethodPost, http.MethodDelete} {
			if has[method] || method == http.MethodConnect {
				continue
			}
			w := b.ask(method, path, "", "Origin", "https://evil.example", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "X-Carve-Console")
			require.Contains(t, []int{http.StatusMethodNotAllowed, http.StatusNotFound, http.StatusNoContent}, w.StatusCode, "%s %s: %s", method, path, w.text)
			for name := range w.Header {
				require.False(t, strings.HasPrefix(name, "Access-Control-"), "%s %s: %s", method, path, name)
			}
			require.Empty(t, w.Cookies(), "%s %s", method, path)
		}
		head := b.ask(http.MethodHead, path, "", "X-Carve-Console", "")
		require.Empty(t, head.text, path)
	}
	for _, way := range [][2]string{{"X-Http-Method-Override", "DELETE"}, {"X-Http-Method", "DELETE"}, {"X-Method-Override", "DELETE"}} {
		require.Equal(t, http.StatusUnsupportedMediaType, b.ask(http.MethodPost, "/console/session?_method=DELETE", "", way[0], way[1]).StatusCode)
		require.Equal(t, http.StatusOK, b.ask(http.MethodGet, "/console/session?_method=DELETE", "", way[0], way[1]).StatusCode)
	}
	b.may(http.StatusOK)
	// the content types that a form on another page can send
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""} {
		w := b.ask(http.MethodPost, "/console/session", `{"key":"`+key+`"}`, "Content-Type", kind)
		require.Equal(t, http.StatusUnsupportedMediaType, w.StatusCode, kind)
	}
	w := b.ask(http.MethodPost, "/console/session", `{"key":"`+strings.Repeat("a", 200<<10)+`"}`)
	require.Equal(t, http.StatusBadRequest, w.StatusCode, "no more than a key is read")
	b.may(http.StatusOK)
}

// The server serves only the embedded files of the console. No path leads outside them.
func TestConsolePathsCannotEscape(t *testing.T) {
	t.Parallel()
	a, _ := consoleServer(t, dbtest.New(t), "--auth=keys")
	for _, path := range []string{
		"/console/../../../../etc/passwd", "/console/assets/../../../etc/passwd", "/console/assets/..%2f..%2f..%2fetc%2fpasswd", "/console/%2e%2e/%2e%2e/etc/passwd",
		"/console/assets/%2e%2e/%2e%2e/console.go", "/console/..%5c..%5cwindows", "/console/assets/%00", "/console/.gitkeep", "/console//etc/passwd", "/console/assets/../.gitkeep",
		"/console/%252e%252e/etc/passwd", "//evil.example/console/", "//evil.example/%2e%2e", "/console/..", "/console//evil.example/..", "/docs//evil.example/..",
	} {
		status, said, _ := raw(t, a.Addr(), strings.NewReader("GET "+path+" HTTP/1.1\r\nHost: "+a.Addr()+"\r\nConnection: close\r\n\r\n"))
		require.NotContains(t, said, "root:", path)
		require.NotContains(t, said, "package console", path)
		require.Contains(t, []int{http.StatusOK, http.StatusNotFound, http.StatusBadRequest}, status, "%s: %s", path, said)
		if status == http.StatusOK {
			require.Contains(t, said, "<title>Carve</title>", path)
		}
	}
}
