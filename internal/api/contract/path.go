package contract

import (
	"net/url"

	"github.com/labstack/echo/v4"
)

// JSON is the media type of requests and responses, except patches and problem documents.
const JSON = "application/json"

// ParamConsistency is the query parameter of reads that may return stale data.
const ParamConsistency = "consistency"

// PathParam returns a parameter of the path, or "" if the path has no such parameter.
func PathParam(c echo.Context, name string) string {
	for i, n := range c.ParamNames() {
		if n == name {
			return plainParam(c, c.ParamValues()[i])
		}
	}
	return ""
}

// pathParams unescapes the path parameters in the same way as the generated handlers.
func pathParams(c echo.Context) map[string]string {
	params := make(map[string]string, len(c.ParamNames()))
	for i, name := range c.ParamNames() {
		params[name] = plainParam(c, c.ParamValues()[i])
	}
	return params
}

func plainParam(c echo.Context, value string) string {
	if c.Request().URL.RawPath != "" {
		if plain, err := url.PathUnescape(value); err == nil {
			return plain
		}
	}
	return value
}
