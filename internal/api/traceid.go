package api

import (
	"log/slog"
	"regexp"

	"github.com/labstack/echo/v4"
)

// traceparent is version 00 and later of the W3C header: version, trace id, parent id, flags; more may follow from version 01 on.
var traceparent = regexp.MustCompile(`^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$`)

const noTrace = "00000000000000000000000000000000"

// callersTrace is the trace id of the caller's traceparent; "" without a valid one.
func callersTrace(c echo.Context) string {
	header := c.Request().Header.Get("Traceparent")
	if header != "" && len(header) <= 128 {
		if m := traceparent.FindStringSubmatch(header); len(m) > 1 && m[1] != noTrace && header[:2] != "ff" {
			return m[1]
		}
	}
	return ""
}

// idsOf are those of the trace and the span of a request. Where nobody follows requests the trace is the caller's, if it has one.
func (a *adapter) idsOf(c echo.Context) (trace, span string) {
	if a.cfg.Tracer != nil {
		if trace, span = a.cfg.Tracer.IDs(c.Request().Context()); trace != "" {
			return trace, span
		}
	}
	return callersTrace(c), ""
}

// traceIDOf is what a problem document is to be found by, in traces and in the log: the id of its trace, or, of a request without one, that
// of the request.
func (a *adapter) traceIDOf(c echo.Context) string {
	if trace, _ := a.idsOf(c); trace != "" {
		return trace
	}
	return requestIDOf(c)
}

// traceAttrs is what a line of the log says of the trace that it belongs to.
func (a *adapter) traceAttrs(c echo.Context) []slog.Attr {
	switch trace, span := a.idsOf(c); {
	case trace == "":
		return nil
	case span == "":
		return []slog.Attr{slog.String("trace_id", trace)}
	default:
		return []slog.Attr{slog.String("trace_id", trace), slog.String("span_id", span)}
	}
}
