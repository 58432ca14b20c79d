package app

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// figures returns the metrics of a server.
func figures(t *testing.T, a *App) string {
	t.Helper()
	return figuresAt(t, a.Addr())
}

// figuresAt returns the metrics from one listener of a server.
func figuresAt(t *testing.T, address string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/metrics", http.NoBody)
	require.NoError(t, err)
	w, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer w.Body.Close()
	data, err := io.ReadAll(w.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, w.StatusCode, string(data))
	return string(data)
}

// post creates an object, with a server in development mode.
func post(t *testing.T, a *App, path, body string, want int) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+a.Addr()+path, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	w, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer w.Body.Close()
	data, err := io.ReadAll(w.Body)
	require.NoError(t, err)
	require.Equal(t, want, w.StatusCode, string(data))
}

func TestMetricsReportClaims(t *testing.T) {
	t.Parallel()
	a, _ := launch(t, "--auth=dev", "--database-url="+dbtest.New(t), "--metrics-pools=0")
	require.NotContains(t, figures(t, a), "carve_claims_total{", "nothing was claimed yet")

	const claims = "/v1/projects/team-a/claims"
	post(t, a, "/v1/projects", `{"metadata": {"name": "team-a"}}`, http.StatusCreated)
	post(t, a, "/v1/projects/team-a/classes", `{"metadata": {"name": "halves"}, "spec": {"ipFamily": "IPv4", "defaultPrefixLength": 25}}`, http.StatusCreated)
	post(t, a, "/v1/projects/team-a/pools", `{"metadata": {"name": "secret-pool"}, "spec": {"cidr": "10.0.0.0/24", "classNames": ["halves"]}}`, http.StatusCreated)
	post(t, a, claims, `{"metadata": {"name": "one"}, "spec": {"className": "halves"}}`, http.StatusCreated)
	post(t, a, claims, `{"metadata": {"name": "two"}, "spec": {"poolRef": {"name": "secret-pool"}, "prefixLength": 25}}`, http.StatusCreated)
	post(t, a, claims, `{"metadata": {"name": "three"}, "spec": {"className": "halves"}}`, http.StatusConflict)
	post(t, a, claims+"?dryRun=true", `{"metadata": {"name": "four"}, "spec": {"className": "halves"}}`, http.StatusConflict)
	post(t, a, claims, `{"metadata": {"name": "five"}, "spec": {"className": "secret-class"}}`, http.StatusNotFound)

	text := figures(t, a)
	for _, line := range []string{
		`carve_claims_total{class="team-a/halves",outcome="bound"} 1`,
		`carve_claims_total{class="team-a/halves",outcome="pool_exhausted"} 1`,
		`carve_claims_total{class="",outcome="bound"} 1`,
		`carve_claims_total{class="",outcome="not_found"} 1`,
		`http_server_request_duration_seconds_count{http_request_method="POST",http_response_status_code="201",http_route="/v1/projects/:project/claims",operation="createClaim"} 2`,
		`http_server_request_duration_seconds_count{http_request_method="POST",http_response_status_code="409",http_route="/v1/projects/:project/claims",operation="createClaim"} 2`,
		`db_client_connection_max 6`, // --max-connections is 4, and stale reads have 2 more
	} {
		require.Contains(t, strings.Split(text, "\n"), line)
	}
	for _, line := range []string{
		`carve_tx_attempts_total\{end="committed",op="claim_group",sqlstate=""\} [2-9]`,
		`carve_group_size_count [2-9]`, // two claims were bound, each in a transaction; a refused claim may also need a transaction
	} {
		require.Regexp(t, `(?m)^`+line+`$`, text)
	}
	require.NotContains(t, text, "secret", "neither pools nor what callers make up")
}

func TestMetricsCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	a, _ := launch(t, "--auth=dev", "--database-url="+dbtest.New(t), "--metrics=off")
	require.Equal(t, http.StatusNotFound, get(t, http.DefaultClient, "http://"+a.Addr()+"/metrics", "").status)
}

func TestMetricsReportTheFullestPoolsAndJobs(t *testing.T) {
	t.Parallel()
	a, _ := launch(t, "--auth=dev", "--database-url="+dbtest.New(t), "--metrics-pools=1")
	post(t, a, "/v1/projects", `{"metadata": {"name": "team-a"}}`, http.StatusCreated)
	post(t, a, "/v1/projects/team-a/pools", `{"metadata": {"name": "fuller"}, "spec": {"cidr": "10.0.0.0/24", "reservations": [{"cidr": "10.0.0.0/25", "reason": "kept"}]}}`, http.StatusCreated)
	post(t, a, "/v1/projects/team-a/pools", `{"metadata": {"name": "emptier"}, "spec": {"cidr": "10.1.0.0/24"}}`, http.StatusCreated)
	var text string
	require.Eventually(t, func() bool { // waits for a complete pass that began after the second pool was created
		text = figures(t, a)
		return strings.Contains(text, `carve_pool_utilization_ratio{pool="fuller",project="team-a",region="local"} 0.5`) &&
			strings.Contains(text, `carve_pools{fullness="under_50"} 1`) && strings.Contains(text, `carve_job_runs_total{outcome="ok",task="sample_pools"}`)
	}, 2*time.Minute, 50*time.Millisecond)
	require.NotContains(t, text, "emptier", "one is named")
	require.Contains(t, text, `carve_pools{fullness="under_50"} 1`)
	require.Contains(t, text, `carve_pools_fenced{region="local"} 0`)
	require.Contains(t, text, `carve_build_info{commit="",go_version="go1.`)
	require.Regexp(t, `(?m)^carve_job_runs_total\{outcome="ok",task="sample_pools"\} [1-9]`, text)
	require.Regexp(t, `(?m)^carve_job_last_success_timestamp_seconds\{task="expire_answers"\} 1\.[0-9]+e\+09$`, text, "it has not run yet")
	require.Regexp(t, `(?m)^process_resident_memory_bytes `, text)
}
