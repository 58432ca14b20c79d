package api

import (
	"context"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api/contract"
	"github.com/carve-ipam/carve/internal/api/gen"
)

// Response headers for reads that may be stale.
const (
	headerConsistency = "Carve-Consistency"
	headerReadAt      = "Carve-Read-At"
)

// consistency lets an operation read from the region's replica if the request asks for stale data. The response headers report the data's age. An
// error has these headers too, because a 404 can also be based on old data. Authorization runs earlier and never reads stale data.
//
// This function writes the headers itself, because errors do not pass through the generated responses.
func (a *adapter) consistency(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		k, ok := c.(*call)
		if !ok || k.op == nil || !k.op.Stale || c.QueryParams().Get(contract.ParamConsistency) != string(gen.ConsistencyStale) {
			return next(c)
		}
		read := new(storage.Moment)
		k.reading.Behind = read
		c.Response().Before(func() {
			h := c.Response().Header()
			h[headerConsistency] = []string{string(gen.ConsistencyStale)}
			if at := read.At(); !at.IsZero() {
				h[headerReadAt] = []string{at.Truncate(time.Microsecond).Format(time.RFC3339Nano)}
			}
		})
		return next(c)
	}
}

// readingOf returns the consistency for a request's reads. The default is the latest data. If the query has consistency=stale, it is stale data.
func readingOf(c echo.Context) usecase.Reading {
	if k, ok := c.(*call); ok {
		return k.reading
	}
	return usecase.Reading{}
}

// withConsistency converts a function that reads one resource. The result reads with the consistency that the request asks for.
func withConsistency[D any](c echo.Context, read func(ctx context.Context, project, name string, r usecase.Reading) (D, error),
) func(ctx context.Context, project, name string) (D, error) {
	return func(ctx context.Context, project, name string) (D, error) {
		return read(ctx, project, name, readingOf(c))
	}
}
