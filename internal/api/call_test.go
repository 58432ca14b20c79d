package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// A middleware may wrap the request's context between origin and authenticate. The audit trail must still have the origin.
func TestRequestOriginSurvivesWrappedContexts(t *testing.T) {
	t.Parallel()
	type span struct{}
	in := func(ctx context.Context) echo.Context {
		return echo.New().NewContext(httptest.NewRequest(http.MethodGet, "/", nil).WithContext(ctx), httptest.NewRecorder())
	}
	visit := new(tenancy.NewRequestContext(t.Context(), tenancy.Origin{RequestID: "r"}))
	c := in(context.WithValue(visit, span{}, 1))
	found, err := contextOf(c)
	require.NoError(t, err)
	require.Same(t, visit, found)
	found.SetPrincipal(tenancy.System())
	require.Equal(t, "r", tenancy.OriginOf(c.Request().Context()).RequestID)
	who, _ := tenancy.From(c.Request().Context())
	require.Equal(t, tenancy.System(), who)

	_, err = contextOf(in(t.Context()))
	require.Equal(t, ipam.CodeInternal, ipam.CodeOf(err), "one that nobody noted is a fault, and is not made up")
}
