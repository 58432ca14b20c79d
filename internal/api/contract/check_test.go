package contract

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"
)

// encoding/json would bind 99999.
func TestBinderBindsTheCheckedBody(t *testing.T) {
	t.Parallel()
	var into struct {
		Qty int `json:"qty"`
	}
	const body = `{"qty": 1, "QTY": 99999}`
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	c := echo.New().NewContext(r, httptest.NewRecorder())

	require.ErrorIs(t, Binder{}.Bind(&into, c), errNotChecked)
	require.Zero(t, into.Qty)

	r.Body = checkedBody{http.NoBody, []byte(body)}
	require.NoError(t, Binder{}.Bind(&into, c))
	require.Equal(t, 1, into.Qty)
}
