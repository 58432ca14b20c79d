package api_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/api"
	"github.com/carve-ipam/carve/internal/api/gen"
)

// tape is a meter that records its calls as texts.
type tape struct{ told []string }

func (m *tape) RequestServed(_ context.Context, method, route, operation string, status int, took time.Duration) {
	if took < 0 {
		panic("before it was asked")
	}
	m.told = append(m.told, fmt.Sprintf("%s %s %s %d", method, route, operation, status))
}

func TestEveryResponseIsMeasuredByItsRoute(t *testing.T) {
	t.Parallel()
	for request, want := range map[string]string{
		"GET /healthz":                       "GET /healthz getHealth 200",
		"HEAD /healthz":                      "GET /healthz getHealth 200",
		"GET /docs/index.css":                "GET /docs/*  404",
		"GET /problems/secret-name":          "GET /problems/:code  404",
		"GET /secret-name":                   "GET   404",
		"GET /v1/secret-name/x":              "GET   404",
		"GET /v1/projects/secret-name/pools": "GET /v1/projects/:project/pools listPools 401",
		"BREW /v1/projects/secret-name":      "BREW /v1/projects/:project  405",
		"DELETE /secret-name":                "DELETE   404",
	} {
		method, path, _ := strings.Cut(request, " ")
		m := &tape{}
		serve(t, api.Config{Meter: m, Authenticator: strangers{}}).do(t, method, path, "")
		require.Equal(t, []string{want}, m.told, request)
	}
	t.Run("Panic", func(t *testing.T) {
		t.Parallel()
		m := &tape{}
		serve(t, api.Config{Meter: m}).do(t, "GET", poolsPath, "") // all use cases of nobody panic
		require.Len(t, m.told, 1)
		require.Contains(t, m.told[0], "listPools 500")
	})
}

// figures stands in for the handler of the metrics.
var figures = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	_, _ = io.WriteString(w, "a_figure 1\n")
})

func TestMetricsAreServedOnlyToLocalCallers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		remote, host string
		header       []string
		open         bool // the metrics are open to all clients
		found        bool
	}{
		"OverLoopback":             {remote: "127.0.0.1:4711", host: "127.0.0.1:8080", found: true},
		"OverLoopbackByName":       {remote: "127.0.0.1:4711", host: "localhost:8080", found: true},
		"OverIPv6":                 {remote: "[::1]:4711", host: "[::1]:8080", found: true},
		"OverIPv4MappedIPv6":       {remote: "[::ffff:127.0.0.1]:4711", host: "127.0.0.1:8080", found: true},
		"NotFromTheNetwork":        {remote: "192.0.2.1:4711", host: "127.0.0.1:8080"},
		"NotToAnotherHostName":     {remote: "127.0.0.1:4711", host: "evil.example:8080"},
		"NotThroughAProxy":         {remote: "127.0.0.1:4711", host: "127.0.0.1:8080", header: []string{"X-Forwarded-For", "192.0.2.1"}},
		"NotThroughAForgingProxy":  {remote: "127.0.0.1:4711", host: "127.0.0.1:8080", header: []string{"X-Forwarded-For", "127.0.0.1"}},
		"NotThroughAStandardProxy": {remote: "127.0.0.1:4711", host: "127.0.0.1:8080", header: []string{"Forwarded", "for=192.0.2.1"}},
		"NotByClaimingToBeLocal":   {remote: "192.0.2.1:4711", host: "localhost:8080", header: []string{"X-Forwarded-For", "127.0.0.1"}},
		"FromTheNetworkWhenOpen":   {remote: "192.0.2.1:4711", host: "carve.example", open: true, found: true},
		"ThroughAProxyWhenOpen":    {remote: "127.0.0.1:4711", host: "carve.example", header: []string{"X-Forwarded-For", "192.0.2.1"}, open: true, found: true},
		"NotFromAnInvalidAddress":  {remote: "@", host: "localhost"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, api.Config{
				Metrics: figures, MetricsLocal: !tc.open, Authenticator: strangers{},
				TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("192.0.2.0/24")},
			})
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody)
			r.RemoteAddr, r.Host = tc.remote, tc.host
			for i := 0; i < len(tc.header); i += 2 {
				r.Header.Set(tc.header[i], tc.header[i+1])
			}
			w := s.send(t, r)
			if !tc.found {
				r.URL.Path = "/nothing"
				require.Equal(t, problem(t, s.send(t, r), http.StatusNotFound, gen.ProblemCodeNotFound).Detail,
					problem(t, w, http.StatusNotFound, gen.ProblemCodeNotFound).Detail, "as if there was nothing")
				return
			}
			require.Equal(t, http.StatusOK, w.Code)
			require.Equal(t, "a_figure 1\n", w.Body.String())
		})
	}
}

func TestDisabledMetricsAreNotFound(t *testing.T) {
	t.Parallel()
	problem(t, serve(t, api.Config{}).do(t, "GET", "http://localhost/metrics", ""), http.StatusNotFound, gen.ProblemCodeNotFound)
}
