package e2e

import (
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	carve "github.com/carve-ipam/carve"
	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/testkit/pgfault"
)

func TestServedContractEqualsTheCommittedFile(t *testing.T) {
	t.Parallel()
	w := setupEmpty(t)
	served := w.ok(t, w.do(t, http.MethodGet, "/openapi.yaml", nil))
	require.Equal(t, string(carve.OpenAPI), string(served.body))
	require.Contains(t, served.header.Get("Content-Type"), "yaml")

	var committed any
	require.NoError(t, yaml.Unmarshal(carve.OpenAPI, &committed))
	asJSON, err := json.Marshal(committed)
	require.NoError(t, err)
	served = w.ok(t, w.do(t, http.MethodGet, "/openapi.json", nil))
	require.JSONEq(t, string(asJSON), string(served.body))
	require.Contains(t, served.header.Get("Content-Type"), "application/json")
}

// Swagger UI loads everything from the server, so it works without a network.
func TestSwaggerUI(t *testing.T) {
	t.Parallel()
	w := setupEmpty(t)
	at := w.do(t, http.MethodGet, "/docs", nil)
	if at.status != http.StatusOK {
		require.Equal(t, "/docs/", at.header.Get("Location"))
		at = w.ok(t, w.do(t, http.MethodGet, "/docs/", nil))
	}
	require.Contains(t, at.header.Get("Content-Type"), "text/html")
	policy := at.header.Get("Content-Security-Policy")
	require.Contains(t, policy, "'self'")
	require.NotContains(t, policy, "http")
	require.NotContains(t, policy, "*")
	links := regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(string(at.body), -1)
	require.NotEmpty(t, links)
	for _, link := range links {
		require.NotRegexp(t, `^(?:[a-z]+:|//)`, link[1], "an outside reference")
		path := link[1]
		if !strings.HasPrefix(path, "/") {
			path = "/docs/" + strings.TrimPrefix(path, "./")
		}
		require.NotEmpty(t, w.ok(t, w.do(t, http.MethodGet, path, nil)).body)
	}
	w.refused(t, w.do(t, http.MethodGet, "/docs/nothing.js", nil), "not_found")
}

func TestEveryCodeHasAPage(t *testing.T) {
	t.Parallel()
	w := setupEmpty(t)
	codes := slices.Sorted(maps.Keys(contract().statuses))
	enum := contract().doc.Components.Schemas["ProblemCode"].Value.Enum
	require.Len(t, codes, len(enum), "the table of the contract has every code")
	for _, code := range codes {
		page := w.ok(t, w.do(t, http.MethodGet, "/problems/"+code, nil))
		require.Contains(t, page.header.Get("Content-Type"), "text/markdown")
		require.Contains(t, string(page.body), code)
		html := w.ok(t, w.do(t, http.MethodGet, "/problems/"+code, nil, header("Accept", "text/html,*/*;q=0.8")))
		require.Contains(t, html.header.Get("Content-Type"), "text/html")
		require.Contains(t, string(html.body), "<h1>")
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	w := setupEmpty(t)
	v := decode[client.Version](t, w.ok(t, w.do(t, http.MethodGet, "/v1/version", nil)))
	require.NotEmpty(t, v.Version)
	require.Contains(t, v.GoVersion, "go1.")
}

// In development mode, each response has a mark.
func TestDevelopmentModeIsMarkedInEveryAnswer(t *testing.T) {
	t.Parallel()
	w := setupEmpty(t)
	for _, path := range []string{"/healthz", "/v1/projects", "/v1/projects/nobody", "/nowhere", "/docs/", "/openapi.yaml", "/problems/overlap"} {
		require.Equal(t, "dev (insecure)", w.do(t, http.MethodGet, path, nil).header.Get("Carve-Auth"), path)
	}
}

func TestHealthAndReadiness(t *testing.T) {
	t.Parallel()
	dsn := database(t)
	proxy, err := pgfault.Start(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(proxy.Close)
	c := newCaller(serve(t, proxy.DSN(), "--request-timeout=500ms"))
	c.outages = true
	down := func(t *testing.T) {
		t.Helper()
		c.ok(t, c.do(t, http.MethodGet, "/healthz", nil))
		for _, path := range []string{"/readyz", "/v1/projects", "/v1/projects/platform/pools"} {
			a := c.do(t, http.MethodGet, path, nil)
			require.Contains(t, []int{http.StatusServiceUnavailable, http.StatusGatewayTimeout}, a.status, "%s: %s", path, a.body)
		}
		a := c.do(t, http.MethodPost, "/v1/projects", obj{"metadata": obj{"name": project}})
		require.Contains(t, []int{http.StatusServiceUnavailable, http.StatusGatewayTimeout}, a.status, string(a.body))
		require.NotContains(t, string(a.body), "pgfault", "nothing of the inside")
		require.NotContains(t, string(a.body), "SQLSTATE")
		require.NotContains(t, string(a.body), "127.0.0.1")
	}
	up := func(t *testing.T) {
		t.Helper()
		proxy.SetRules()
		require.Eventually(t, func() bool {
			a, err := c.try(t.Context(), t, http.MethodGet, "/readyz", nil)
			return err == nil && a.status == http.StatusOK
		}, waitLimit, tick)
	}
	up(t)
	t.Run("DatabaseThatRefusesConnections", func(t *testing.T) {
		proxy.SetRules(pgfault.ConnectRefused("57P03"), pgfault.Drain57P01())
		down(t)
		up(t)
	})
	t.Run("DatabaseThatCutsConnections", func(t *testing.T) {
		proxy.SetRules(pgfault.ConnectionLost(), pgfault.ConnectRefused("08006"))
		down(t)
		up(t)
	})
	t.Run("DatabaseThatDoesNotAnswer", func(t *testing.T) {
		proxy.Partition()
		down(t)
		proxy.Heal()
		up(t)
	})
	t.Run("DatabaseThatIsGone", func(t *testing.T) {
		proxy.Close()
		down(t)
	})
}
