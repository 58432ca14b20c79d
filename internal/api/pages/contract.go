package pages

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	carve "github.com/carve-ipam/carve"
	"github.com/carve-ipam/carve/internal/api/contract"
	"github.com/carve-ipam/carve/internal/api/gen"
)

// YAML serves the file openapi.yaml.
func YAML() echo.HandlerFunc { return serveDocument("application/yaml", carve.OpenAPI) }

// JSON serves the same document as JSON.
func JSON() echo.HandlerFunc {
	data, err := gen.GetSpecJSON()
	if err != nil {
		panic(fmt.Sprintf("api: embedded contract: %v", err))
	}
	return serveDocument(contract.JSON, data)
}

// serveDocument serves bytes that are part of the binary. They change only with the binary, so a cache must check the ETag.
func serveDocument(contentType string, data []byte) echo.HandlerFunc {
	sum := sha256.Sum256(data)
	etag := `"` + hex.EncodeToString(sum[:16]) + `"`
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set(echo.HeaderContentType, contentType)
		h.Set("Cache-Control", "no-cache")
		h.Set("ETag", etag)
		http.ServeContent(c.Response(), c.Request(), "", time.Time{}, bytes.NewReader(data))
		return nil
	}
}
