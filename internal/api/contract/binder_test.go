package contract

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"
)

type checkedBody struct {
	io.ReadCloser
	value any
}

func (b checkedBody) ValidatedValue() any { return b.value }

// The library's own middleware would validate the qty of {"qty": 1, "QTY": 99999}, but bind 99999.
func TestBinderBindsTheValidatedBody(t *testing.T) {
	t.Parallel()
	var into struct {
		Qty int `json:"qty"`
	}
	const body = `{"qty": 1, "QTY": 99999}`
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	c := echo.New().NewContext(r, httptest.NewRecorder())

	require.ErrorIs(t, Binder{}.Bind(&into, c), errNotValidated)
	require.Zero(t, into.Qty)

	r.Body = checkedBody{ReadCloser: io.NopCloser(strings.NewReader(body)), value: map[string]any{"qty": 1, "QTY": 99999}}
	require.NoError(t, Binder{}.Bind(&into, c))
	require.Equal(t, 1, into.Qty)
}
