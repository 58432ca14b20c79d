package telemetry

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// environment returns an environment with a single variable.
func environment(name, value string) func(string) string {
	return func(asked string) string {
		if asked == name {
			return value
		}
		return ""
	}
}

func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	require.Contains(t, w.Header().Get("Content-Type"), "text/plain")
	return w.Body.String()
}

func TestHandlerServesPrometheusText(t *testing.T) {
	t.Parallel()
	m, err := New(t.Context(), Options{Version: "1.2.3", Env: environment("", "")})
	require.NoError(t, err)
	require.NoError(t, m.WatchConnections(func() Connections { return Connections{Used: 1, Idle: 2, Max: 8, Waits: 3} }))
	m.ClaimDecided(t.Context(), "platform/small", "")
	m.GroupRan(t.Context(), 3)
	m.AttemptEnded(t.Context(), "claim_group", "again", "40001")
	m.RequestServed(t.Context(), http.MethodGet, "/healthz", "getHealth", http.StatusOK, time.Second)
	text := scrape(t, m)
	for _, line := range []string{
		`carve_claims_total{class="platform/small",outcome="bound"} 1`,
		`carve_group_size_bucket{le="4"} 1`,
		`carve_tx_attempts_total{end="again",op="claim_group",sqlstate="40001"} 1`,
		`http_server_request_duration_seconds_bucket{http_request_method="GET",http_response_status_code="200",http_route="/healthz",operation="getHealth",le="1"} 1`,
		`db_client_connection_count{db_client_connection_state="used"} 1`,
		`db_client_connection_count{db_client_connection_state="idle"} 2`,
		`db_client_connection_max 8`,
		`carve_db_waits_total 3`,
	} {
		require.Contains(t, text, "\n"+line+"\n")
	}
	require.Regexp(t, `target_info\{.*service_name="carve",service_version="1\.2\.3"`, text)
	require.NotContains(t, text, "otel_scope", "one meter, nothing to tell apart")
	require.NoError(t, m.Shutdown(t.Context()))
}

func TestOTELSDKDisabledTurnsMetricsOff(t *testing.T) {
	t.Parallel()
	for value, off := range map[string]bool{"true": true, "TRUE": true, " true ": true, "false": false, "": false, "1": false} {
		m, err := New(t.Context(), Options{Env: environment("OTEL_SDK_DISABLED", value)})
		require.NoError(t, err)
		require.Equal(t, off, m.Handler() == nil, "%q", value)
		require.NoError(t, m.WatchConnections(func() Connections { return Connections{} }))
		m.ClaimDecided(t.Context(), "platform/small", "") // recording must work even if nothing reads the metrics
		require.NoError(t, m.Shutdown(t.Context()))
	}
}

// slowReader is a client that does not read the response until the test allows it.
type slowReader struct {
	*httptest.ResponseRecorder
	begun chan<- struct{}
	read  <-chan struct{}
}

func (s slowReader) Write(b []byte) (int, error) {
	select {
	case s.begun <- struct{}{}:
	default: // an earlier write has already reported the beginning
	}
	<-s.read
	return s.ResponseRecorder.Write(b)
}

func TestExcessConcurrentScrapesAreRefused(t *testing.T) {
	t.Parallel()
	m, err := New(t.Context(), Options{Env: environment("", "")})
	require.NoError(t, err)
	m.GroupRan(t.Context(), 1)
	ask := func(w http.ResponseWriter) {
		m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	}
	read := make(chan struct{})
	var answers sync.WaitGroup
	slow := make([]slowReader, maxScrapes)
	for i := range slow {
		begun := make(chan struct{}, 1)
		slow[i] = slowReader{httptest.NewRecorder(), begun, read}
		answers.Go(func() { ask(slow[i]) })
		<-begun
	}
	w := httptest.NewRecorder()
	ask(w)
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	close(read)
	answers.Wait()
	for _, s := range slow {
		require.Equal(t, http.StatusOK, s.Code)
	}
}
