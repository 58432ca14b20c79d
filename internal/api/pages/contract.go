package pages

import (
	"fmt"

	"github.com/labstack/echo/v4"

	carve "github.com/carve-ipam/carve"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/api/static"
)

// YAML serves the file openapi.yaml.
func YAML() echo.HandlerFunc {
	return echo.WrapHandler(static.New("openapi.yaml", "no-cache", carve.OpenAPI))
}

// JSON serves the same document as JSON.
func JSON() echo.HandlerFunc {
	data, err := gen.GetSpecJSON()
	if err != nil {
		panic(fmt.Sprintf("api: embedded contract: %v", err))
	}
	return echo.WrapHandler(static.New("openapi.json", "no-cache", data))
}
