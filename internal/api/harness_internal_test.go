package api

import (
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"
)

// servedYAML is what /openapi.yaml answers.
func servedYAML(t *testing.T) []byte {
	t.Helper()
	w := httptest.NewRecorder()
	c := echo.New().NewContext(httptest.NewRequestWithContext(t.Context(), "GET", "/openapi.yaml", nil), w)
	require.NoError(t, serveYAML()(c))
	return w.Body.Bytes()
}
