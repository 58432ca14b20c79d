package contract

import (
	"net/url"

	"github.com/labstack/echo/v4"
)

// JSON is the media type of requests and responses, except patches and problem documents.
const JSON = "application/json"

// ParamConsistency is the query parameter with which a read allows stale data.
const ParamConsistency = "consistency"

// PathParam returns a path parameter, or "" if the path has no such parameter.
func PathParam(c echo.Context, name string) string {
	for i, n := range c.ParamNames() {
		if n == name {
			return plainParam(c, c.ParamValues()[i])
		}
	}
	return ""
}

// plainParam unescapes a path parameter in the same way as the generated handlers.
func plainParam(c echo.Context, value string) string {
	if c.Request().URL.RawPath != "" {
		if resolve, err := url.PathUnescape(value); err == nil {
			return resolve
		}
	}
	return value
}
