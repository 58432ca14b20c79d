package api

import (
	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// changeHandlers serves the feed.
type changeHandlers struct{}

// ListChanges implements the operation.
func (s changeHandlers) ListChanges(echo.Context, string, gen.ListChangesParams) error {
	return ipam.Errorf(ipam.CodeUnavailable, "The feed is not served yet.")
}
