package api

import (
	"regexp"

	"github.com/labstack/echo/v4"
)

// traceparent is version 00 and later of the W3C header: version, trace id, parent id, flags; more may follow from version 01 on.
var traceparent = regexp.MustCompile(`^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$`)

const noTrace = "00000000000000000000000000000000"

// traceIDOf is the trace id of the caller's traceparent, so that a problem document can be found in the caller's traces;
// without a valid one it is the request id.
func traceIDOf(c echo.Context) string {
	header := c.Request().Header.Get("Traceparent")
	if header != "" && len(header) <= 128 {
		if m := traceparent.FindStringSubmatch(header); len(m) > 1 && m[1] != noTrace && header[:2] != "ff" {
			return m[1]
		}
	}
	return requestIDOf(c)
}
