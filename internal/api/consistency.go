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

// readingOf is how a request asks for what it reads: of what was written last, unless it has passed consistency and asks for less.
func readingOf(c echo.Context) usecase.Reading {
	if k, ok := c.(*call); ok {
		return k.reading
	}
	return usecase.Reading{}
}

// asAsked reads one resource as the request asks for it.
func asAsked[D any](c echo.Context, read func(ctx context.Context, project, name string, r usecase.Reading) (D, error),
) func(ctx context.Context, project, name string) (D, error) {
	return func(ctx context.Context, project, name string) (D, error) {
		return read(ctx, project, name, readingOf(c))
	}
}
