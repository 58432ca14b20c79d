package api_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/docs/problems"
	"github.com/carve-ipam/carve/internal/api"
	"github.com/carve-ipam/carve/internal/api/gen"
)

func TestProbes(t *testing.T) {
	t.Parallel()
	down := func(context.Context) error { return errors.New("secret") }
	s := serve(t, api.Config{Ready: down, Authenticator: strangers{}})

	require.JSONEq(t, `{"status": "ok"}`, s.do(t, "GET", "/healthz", "").Body.String())
	w := s.do(t, "GET", "/readyz", "")
	problem(t, w, http.StatusServiceUnavailable, gen.ProblemCodeUnavailable)
	require.Equal(t, "1", w.Header().Get("Retry-After"))
	require.NotContains(t, w.Body.String(), "secret")

	up := func(context.Context) error { return nil }
	for _, ready := range []func(context.Context) error{nil, up} {
		w := serve(t, api.Config{Ready: ready}).do(t, "GET", "/readyz", "")
		require.Equal(t, http.StatusOK, w.Code)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	w := serve(t, api.Config{Version: api.Version{Version: "1.2.3"}}).do(t, "GET", "/v1/version", "")
	require.Equal(t, gen.Version{Version: "1.2.3", GoVersion: runtime.Version()}, decode[gen.Version](t, w))
}

func TestDocumentsNeedNoCredentials(t *testing.T) {
	t.Parallel()
	s := serve(t, api.Config{Authenticator: strangers{}})

	t.Run("TheContract", func(t *testing.T) {
		t.Parallel()
		w := s.do(t, "GET", "/openapi.yaml", "")
		require.Equal(t, "application/yaml", w.Header().Get("Content-Type"))
		require.Contains(t, w.Body.String(), "openapi: 3.0.3")
		require.Equal(t, http.StatusNotModified, s.do(t, "GET", "/openapi.yaml", "", "If-None-Match", w.Header().Get("ETag")).Code)

		w = s.do(t, "GET", "/openapi.json", "")
		require.Equal(t, "application/json", w.Header().Get("Content-Type"))
		require.Equal(t, "3.0.3", decode[map[string]any](t, w)["openapi"])
	})

	t.Run("SwaggerUI", func(t *testing.T) {
		t.Parallel()
		w := s.do(t, "GET", "/docs/", "")
		require.Equal(t, http.StatusOK, w.Code)
		require.Contains(t, w.Body.String(), "/openapi.yaml")
		require.Contains(t, w.Header().Get("Content-Security-Policy"), "script-src 'self'")
		require.Equal(t, http.StatusMovedPermanently, s.do(t, "GET", "/docs", "").Code)
	})

	t.Run("TheFrontDoor", func(t *testing.T) {
		t.Parallel()
		w := s.do(t, "GET", "/", "", "Accept", "text/html,*/*;q=0.8")
		require.Equal(t, http.StatusOK, w.Code)
		require.Equal(t, "text/html; charset=UTF-8", w.Header().Get("Content-Type"))
		require.Equal(t, "Accept", w.Header().Get("Vary"))
		page := w.Body.String()
		for _, path := range []string{"/docs/", "/openapi.yaml", "/openapi.json", "/problems", "/readyz"} {
			require.Contains(t, page, `href="`+path+`"`)
		}
		require.NotContains(t, page, `href="/console/"`, "there is none here")
		require.NotContains(t, page, "<script")
		_, style, _ := strings.Cut(page, "<style>")
		style, _, _ = strings.Cut(style, "</style>")
		sum := sha256.Sum256([]byte(style))
		require.Contains(t, w.Header().Get("Content-Security-Policy"), "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'", "the browser takes the style")

		w = s.do(t, "GET", "/", "")
		require.Equal(t, http.StatusOK, w.Code)
		there := decode[map[string]string](t, w)
		require.Equal(t, "Carve", there["name"])
		for what, path := range there {
			if what != "name" {
				require.NotEqual(t, http.StatusNotFound, s.do(t, "GET", path, "").Code, "%s: %s", what, path)
			}
		}
	})

	t.Run("AllCodes", func(t *testing.T) {
		t.Parallel()
		text := s.do(t, "GET", "/problems", "")
		require.Equal(t, "text/markdown; charset=utf-8", text.Header().Get("Content-Type"))
		page := s.do(t, "GET", "/problems", "", "Accept", "text/html,*/*;q=0.8")
		require.Equal(t, "text/html; charset=UTF-8", page.Header().Get("Content-Type"))
		for _, p := range problems.All() {
			require.Contains(t, text.Body.String(), "(/problems/"+p.Code+")")
			require.Contains(t, page.Body.String(), `<a href="/problems/`+p.Code+`">`)
		}
	})

	t.Run("ThePagesOfCodes", func(t *testing.T) {
		t.Parallel()
		w := s.do(t, "GET", "/problems/pool_exhausted", "")
		require.Equal(t, "text/markdown; charset=utf-8", w.Header().Get("Content-Type"))
		require.Contains(t, w.Body.String(), "# No free block is large enough")

		w = s.do(t, "GET", "/problems/pool_exhausted", "", "Accept", "text/html,*/*;q=0.8")
		require.Equal(t, "text/html; charset=UTF-8", w.Header().Get("Content-Type"))
		require.Contains(t, w.Body.String(), "<h1>No free block is large enough</h1>")
		require.Contains(t, w.Body.String(), "<h2>For the caller</h2>")
	})
}

func TestHEADReturnsTheHeadersOfGET(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(serve(t, api.Config{Service: script()}).handler)
	t.Cleanup(server.Close)
	for _, path := range []string{poolsPath + "/p", "/healthz", "/openapi.yaml", "/docs/", "/problems/in_use"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodHead, server.URL+path, nil)
		require.NoError(t, err)
		answer, err := server.Client().Do(r)
		require.NoError(t, err)
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, http.StatusOK, answer.StatusCode, path)
		require.Empty(t, body)
		require.NotEmpty(t, answer.Header.Get("Content-Type"))
	}
}
