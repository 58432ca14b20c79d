package api

import (
	"log/slog"
	"regexp"

	"github.com/labstack/echo/v4"
)

// traceparent matches the W3C header in version 00 and later: version, trace id, parent id, flags. From version 01 on, more fields may follow.
var traceparent = regexp.MustCompile(`^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$`)

const noTrace = "00000000000000000000000000000000"

// callerTraceID returns the trace id from the caller's traceparent header, or "" if the header is missing or not valid.
func callerTraceID(c echo.Context) string {
	header := c.Request().Header.Get("Traceparent")
	if header != "" && len(header) <= 128 {
		if m := traceparent.FindStringSubmatch(header); len(m) > 1 && m[1] != noTrace && header[:2] != "ff" {
			return m[1]
		}
	}
	return ""
}

// traceIDs returns a request's trace id and span id. Without a tracer it returns the caller's trace id, if the caller sent one.
func (a *adapter) traceIDs(c echo.Context) (trace, span string) {
	if a.cfg.Tracer != nil {
		if trace, span = a.cfg.Tracer.IDs(c.Request().Context()); trace != "" {
			return trace, span
		}
	}
	return callerTraceID(c), ""
}

// traceIDOf returns the id that links a problem document with the traces and the log. That is the trace id, or the request id if there is no trace.
func (a *adapter) traceIDOf(c echo.Context) string {
	if trace, _ := a.traceIDs(c); trace != "" {
		return trace
	}
	return requestIDOf(c)
}

// traceAttrs returns the log attributes for a request's trace.
func (a *adapter) traceAttrs(c echo.Context) []slog.Attr {
	switch trace, span := a.traceIDs(c); {
	case trace == "":
		return nil
	case span == "":
		return []slog.Attr{slog.String("trace_id", trace)}
	default:
		return []slog.Attr{slog.String("trace_id", trace), slog.String("span_id", span)}
	}
}
