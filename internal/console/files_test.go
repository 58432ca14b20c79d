package console

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"
)

var script = strings.Repeat("console.log('hello');\n", 100)

func serve(t *testing.T, files fstest.MapFS, method, target string, headers ...string) *http.Response {
	t.Helper()
	e := echo.New()
	New(Config{files: files}).Register(e)
	r := httptest.NewRequestWithContext(t.Context(), method, target, http.NoBody)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	return w.Result()
}

func text(t *testing.T, from io.Reader) string {
	t.Helper()
	data, err := io.ReadAll(from)
	require.NoError(t, err)
	return string(data)
}

func TestConsoleFilesAreServed(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		".gitkeep": {}, "index.html": {Data: []byte("<!doctype html>page")},
		"assets/console-AB12CD34.js": {Data: []byte(script)}, "assets/icon.svg": {Data: []byte("<svg/>")},
	}
	for path, want := range map[string]struct {
		status          int
		kind, caching   string
		begins, vary    string
		alsoCompressed  bool
		isRevalidatable bool
	}{
		"/console/":                           {200, "text/html; charset=utf-8", "no-store", "<!doctype", "", false, false},
		"/console/pools/a/10.0.0.0/8?depth=4": {200, "text/html; charset=utf-8", "no-store", "<!doctype", "", false, false},
		"/console/assets/console-AB12CD34.js": {200, "text/javascript; charset=utf-8", "public, max-age=31536000, immutable", "console.log", "Accept-Encoding", true, true},
		"/console/assets/icon.svg":            {200, "image/svg+xml", "no-cache", "<svg/>", "", false, true},
		"/console/assets/console-00000000.js": {404, "application/json", "", "", "", false, false},
		"/console/.gitkeep":                   {200, "text/html; charset=utf-8", "no-store", "<!doctype", "", false, false},
	} {
		w := serve(t, files, http.MethodGet, path)
		require.Equal(t, want.status, w.StatusCode, path)
		require.Equal(t, want.kind, w.Header.Get("Content-Type"), path)
		require.Equal(t, want.caching, w.Header.Get("Cache-Control"), path)
		require.Equal(t, want.vary, w.Header.Get("Vary"), path)
		require.Contains(t, text(t, w.Body), want.begins, path)
		require.Equal(t, policy, w.Header.Get("Content-Security-Policy"), path)
		require.Equal(t, "same-origin", w.Header.Get("Cross-Origin-Opener-Policy"), path)
		if want.isRevalidatable {
			again := serve(t, files, http.MethodGet, path, "If-None-Match", w.Header.Get("ETag"))
			require.Equal(t, http.StatusNotModified, again.StatusCode, path)
		}
		packed := serve(t, files, http.MethodGet, path, "Accept-Encoding", "br, gzip")
		if !want.alsoCompressed {
			require.Empty(t, packed.Header.Get("Content-Encoding"), path)
			continue
		}
		require.Equal(t, "gzip", packed.Header.Get("Content-Encoding"))
		require.NotEqual(t, w.Header.Get("ETag"), packed.Header.Get("ETag"))
		unpacked, err := gzip.NewReader(packed.Body)
		require.NoError(t, err)
		require.Equal(t, script, text(t, unpacked))
	}
	w := serve(t, files, http.MethodGet, "/console")
	require.Equal(t, http.StatusMovedPermanently, w.StatusCode)
	require.Equal(t, "/console/", w.Header.Get("Location"))
	require.Equal(t, http.StatusMethodNotAllowed, serve(t, files, http.MethodPost, "/console/pools").StatusCode)
}

func TestBuildWithoutConsoleReportsIt(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/console/", "/console/pools/a", "/console/assets/console-AB12CD34.js"} {
		w := serve(t, fstest.MapFS{".gitkeep": {}}, http.MethodGet, path)
		require.Equal(t, http.StatusNotFound, w.StatusCode)
		require.Contains(t, text(t, w.Body), "This build has no console")
		require.Equal(t, styled, w.Header.Get("Content-Security-Policy"))
	}
	require.False(t, New(Config{files: fstest.MapFS{}}).Included())
	require.True(t, New(Config{files: fstest.MapFS{"index.html": {}}}).Included())
}

func TestFileOfAnUnknownTypePanics(t *testing.T) {
	t.Parallel()
	require.Panics(t, func() { New(Config{files: fstest.MapFS{"a.exe": {}}}) })
}

func TestReturnPathAfterSignInStaysInTheConsole(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]string{
		"": Path, "/console/": Path, "/console/pools/a?within=10.0.0.0%2F8#map": "/console/pools/a?within=10.0.0.0%2F8#map", "/console/a%2Fb": "/console/a%2Fb",
		"https://evil.example/console/": Path, "//evil.example/console/": Path, "/\\evil.example": Path, "/console/\\evil.example": Path, "/v1/projects": Path,
		"/console/../v1/projects": Path, "/console//evil.example": Path, "/console/%2e%2e/v1": Path, "javascript:alert(1)": Path, "/console": Path,
		"/console/\r\nSet-Cookie: a=b": Path, "/console/" + strings.Repeat("a", 2000): Path, "https:/console/": Path, "user@/console/": Path, "/%": Path,
	} {
		require.Equal(t, want, safeReturn(asked), asked)
	}
}
