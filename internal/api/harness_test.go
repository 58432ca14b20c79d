package api_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/api"
	"github.com/carve-ipam/carve/internal/api/auth"
	"github.com/carve-ipam/carve/internal/api/gen"
)

// nobody implements the use cases for requests that must not reach one. Each call panics, which gives a response with status 500.
type nobody struct{ api.UseCases }

// ChangesMark implements api.UseCases. Lists call it before they read.
func (nobody) ChangesMark(context.Context) (storage.FeedState, error) {
	return storage.FeedState{}, nil
}

// ChangesCursor implements api.UseCases.
func (nobody) ChangesCursor(string, storage.FeedState) string { return "cursor" }

// service is a server. It checks that each response conforms to the contract.
type service struct {
	handler http.Handler
	check   func(t *testing.T, r *http.Request, w *httptest.ResponseRecorder)
}

// contractRouter finds the operation in the contract for a response.
var contractRouter = sync.OnceValues(func() (routers.Router, error) {
	doc, err := gen.GetSpec()
	if err != nil {
		return nil, err
	}
	doc.Security, doc.Servers = nil, nil
	return legacy.NewRouter(doc)
})

func serve(t *testing.T, cfg api.Config) service {
	t.Helper()
	if cfg.Service == nil {
		cfg.Service = nobody{}
	}
	if cfg.Authenticator == nil {
		cfg.Authenticator = auth.Dev{}
	}
	router, err := contractRouter()
	require.NoError(t, err)
	return service{handler: api.New(cfg), check: func(t *testing.T, r *http.Request, w *httptest.ResponseRecorder) {
		t.Helper()
		route, params, err := router.FindRoute(r)
		if err != nil || w.Code == http.StatusMethodNotAllowed {
			return // not in the contract
		}
		require.NoError(t, openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
			RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route},
			Status:                 w.Code, Header: w.Header(), Body: io.NopCloser(strings.NewReader(w.Body.String())),
			Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
		}), "%s %s answered %d %s", r.Method, r.URL, w.Code, w.Body)
	}}
}

// do sends a request. headers are pairs of name and value.
func (s service) do(t *testing.T, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r := httptest.NewRequestWithContext(t.Context(), method, target, reader)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
		if method == http.MethodPatch {
			r.Header.Set("Content-Type", "application/merge-patch+json")
		}
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return s.send(t, r)
}

func (s service) send(t *testing.T, r *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	s.check(t, r, w)
	return w
}

// problem decodes a problem document and checks the fields that all problem documents have.
func problem(t *testing.T, w *httptest.ResponseRecorder, status int, code gen.ProblemCode) gen.Problem {
	t.Helper()
	require.Equal(t, status, w.Code, w.Body.String())
	require.Equal(t, "application/problem+json", w.Header().Get("Content-Type"))
	require.NotEmpty(t, w.Header().Get("X-Request-Id"))
	require.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
	var p gen.Problem
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &p))
	require.Equal(t, code, p.Code, p.Detail)
	require.Equal(t, status, p.Status)
	require.Equal(t, "/problems/"+string(code), p.Type)
	require.Equal(t, w.Header().Get("X-Request-Id"), p.TraceID)
	require.NotEmpty(t, p.Title)
	require.True(t, strings.HasSuffix(p.Detail, ".") || strings.HasSuffix(p.Detail, "?"), "not a sentence: %s", p.Detail)
	return p
}

// decode decodes the body of a response.
func decode[T any](t *testing.T, w *httptest.ResponseRecorder) T {
	t.Helper()
	var v T
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &v))
	return v
}
