package health_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carve-ipam/carve/controller/internal/health"
	"github.com/carve-ipam/carve/controller/internal/telemetry"
)

func TestReadyOnceTheCachesAreRead(t *testing.T) {
	t.Parallel()
	started, leads := make(chan struct{}), make(chan struct{})
	reach := telemetry.Reach{}
	handler := health.Checks{Started: started, Leads: leads, Carve: func() telemetry.Reach { return reach }}.Handler()
	ask := func(path string) (int, string) {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
		return w.Code, w.Body.String()
	}
	for _, step := range []struct {
		then   func()
		status int
		says   string
	}{
		{func() {}, http.StatusServiceUnavailable, "is reading the objects"},
		{func() { close(started) }, http.StatusOK, `{"ready":true,"leads":false,"carve":{"asked":false,"reachable":false}}`},
		{func() { close(leads) }, http.StatusOK, `"leads":true`},
		{func() { reach = telemetry.Reach{Asked: true, Error: "no route"} }, http.StatusOK, "no block is allocated or freed"},
		{func() { reach = telemetry.Reach{Asked: true, Reachable: true} }, http.StatusOK, `"reachable":true}`},
	} {
		step.then()
		status, says := ask("/readyz")
		assert.Equal(t, step.status, status)
		assert.Contains(t, says, step.says)
		status, _ = ask("/healthz")
		assert.Equal(t, http.StatusOK, status)
	}
}
