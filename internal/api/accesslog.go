package api

import (
	"log/slog"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/tenancy"
)

// accessLog writes one line for each request. The line contains the route instead of the path, so that requests can be counted by route and no
// resource names are logged. The line also has the caller, the authentication method and the remote address. It has neither body nor headers, and
// therefore no credentials. accessLog renders an error itself, so that it can log the status that was sent.
func (a *adapter) accessLog(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := time.Now()
		if err := next(c); err != nil {
			c.Error(err)
		}
		route := c.Path()
		if route == "" {
			route = "unmatched"
		}
		r := c.Request()
		who, _ := tenancy.From(r.Context())
		log, ctx, end := a.cfg.Log.Handler(), r.Context(), time.Now()
		if !log.Enabled(ctx, slog.LevelInfo) {
			return nil
		}
		// A slog.Logger would look up the calling line of code. That costs a microsecond, and the line is not logged.
		line := slog.NewRecord(end, slog.LevelInfo, "request", 0)
		line.AddAttrs(
			slog.String("method", r.Method),
			slog.String("route", route),
			slog.Int("status", c.Response().Status),
			slog.Duration("duration", end.Sub(start)),
			slog.String("requestId", requestIDOf(c)),
			slog.String("subject", who.Subject),
			slog.String("auth", who.Method),
			slog.String("remote", tenancy.OriginOf(ctx).Remote),
		)
		line.AddAttrs(a.traceAttrs(c)...)
		_ = log.Handle(ctx, line) // slog.Logger ignores this error too: nothing can report a line that cannot be written
		return nil
	}
}
