package api

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"
)

func TestTraceID(t *testing.T) {
	t.Parallel()
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	for header, want := range map[string]string{
		"00-" + trace + "-00f067aa0ba902b7-01":       trace,
		"01-" + trace + "-00f067aa0ba902b7-01-later": trace,
		"":                                       "request",
		"ff-" + trace + "-00f067aa0ba902b7-01":   "request",
		"00-" + noTrace + "-00f067aa0ba902b7-01": "request",
		"00-" + trace + "-01":                    "request",
		"00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01": "request",
	} {
		r := httptest.NewRequest(http.MethodGet, "/v1/projects", nil)
		r.Header.Set("traceparent", header)
		c := echo.New().NewContext(r, httptest.NewRecorder())
		c.Response().Header().Set(headerRequestID, "request")
		require.Equal(t, want, (&adapter{}).traceIDOf(c), header)
	}
}
