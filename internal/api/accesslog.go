package api

import (
	"log/slog"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/tenancy"
)

// accessLog writes one line a request: the route and not the path, so that lines can be counted and hold no names; who asked,
// how that was found out, and from where; no bodies, no headers, so no credentials either. It renders an error itself, so that the status it writes is the one that was sent.
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
		// Not by the Logger, which looks up the line of code that it is called from: a microsecond for what nobody is shown.
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
		_ = log.Handle(ctx, line) // as the Logger does: a line that cannot be written has nobody to be told to
		return nil
	}
}
