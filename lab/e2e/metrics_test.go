package e2e

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// Metrics count claims by class and outcome. They have no labels with names of pools, claims or callers.
func TestMetricsCountClaimsByClass(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.class(t, "halves", obj{"ipFamily": "IPv4", "defaultPrefixLength": 25})
	w.poolOf(t, project, "secret-pool", "10.0.0.0/24", "halves")
	scrape := func() string {
		t.Helper()
		text := string(w.ok(t, w.do(t, http.MethodGet, "/metrics", nil)).body)
		return regexp.MustCompile(`(?m)^carve_(pool|stock)_.*$`).ReplaceAllString(text, "") // these metrics name the fullest pools on purpose
	}
	require.NotContains(t, scrape(), "carve_claims_total{")
	w.claim(t, "secret-1", by("halves"))
	w.claim(t, "secret-2", by("halves"))
	w.refused(t, w.postClaim(t, "secret-3", by("halves")), "pool_exhausted")
	w.refused(t, w.postClaim(t, "secret-4", by("secret-class")), "not_found")
	text := scrape()
	require.Contains(t, text, `carve_claims_total{class="`+project+`/halves",outcome="bound"} 2`)
	require.Contains(t, text, `carve_claims_total{class="`+project+`/halves",outcome="pool_exhausted"} 1`)
	require.NotContains(t, text, "secret-")

	t.Run("AreServedOnlyOnLoopback", func(t *testing.T) {
		w.refused(t, w.do(t, http.MethodGet, "/metrics", nil, header("X-Forwarded-For", "192.0.2.1")), "not_found")
		w.refused(t, w.do(t, http.MethodGet, "/metrics", nil, func(r *http.Request) { r.Host = "carve.example.com" }), "not_found")
	})
}
