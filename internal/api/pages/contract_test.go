package pages

import (
	"net/http/httptest"
	"os"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"
)

func TestServedContractMatchesTheFile(t *testing.T) {
	t.Parallel()
	committed, err := os.ReadFile("../../../openapi.yaml")
	require.NoError(t, err)
	w := httptest.NewRecorder()
	c := echo.New().NewContext(httptest.NewRequestWithContext(t.Context(), "GET", "/openapi.yaml", nil), w)
	require.NoError(t, YAML()(c))
	require.Equal(t, string(committed), w.Body.String())
}
