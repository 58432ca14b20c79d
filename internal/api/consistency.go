package api

import (
	"time"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/api/contract"
	"github.com/carve-ipam/carve/internal/api/gen"
)

// What answers to reads that may be stale say of it.
const (
	headerConsistency = "Carve-Consistency"
	headerReadAt      = "Carve-Read-At"
)

// consistency lets an operation read what the region knows, where the request asks for that, and says so in whatever is answered: that
// something was not found is as old as that something was. Who may ask is decided before it, and never by what may be stale.
//
// The headers are written here and not by the generated answers, of which the refusals have none.
func (a *adapter) consistency(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if op := operationOf(c); op == nil || !op.Stale || c.QueryParams().Get(contract.ParamConsistency) != string(gen.ConsistencyStale) {
			return next(c)
		}
		ctx := storage.Stale(c.Request().Context())
		c.SetRequest(c.Request().WithContext(ctx))
		c.Response().Before(func() {
			h := c.Response().Header()
			h[headerConsistency] = []string{string(gen.ConsistencyStale)}
			if at := storage.ReadAt(ctx); !at.IsZero() {
				h[headerReadAt] = []string{at.Truncate(time.Microsecond).Format(time.RFC3339Nano)}
			}
		})
		return next(c)
	}
}
