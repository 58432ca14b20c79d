package api

import (
	"context"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/api/auth"
)

// Meter is told of every request that was answered. It must not block, and is safe for concurrent use.
type Meter interface {
	// RequestServed: route is the template of the path, "" for a path that there is not; operation is the operationId, "" for what
	// matched none.
	RequestServed(ctx context.Context, method, route, operation string, status int, took time.Duration)
}

// measure tells the meter of the answer that was sent.
func (a *adapter) measure(next echo.HandlerFunc) echo.HandlerFunc {
	if a.cfg.Meter == nil {
		return next
	}
	return func(c echo.Context) error {
		start := time.Now()
		err := next(c)
		operation := ""
		if op := operationOf(c); op != nil {
			operation = op.ID
		}
		a.cfg.Meter.RequestServed(c.Request().Context(), c.Request().Method, c.Path(), operation, c.Response().Status, time.Since(start)-callOf(c).waited)
		return err
	}
}

// serveMetrics is for whoever collects metrics. To everybody else the path is one that there is not.
func (a *adapter) serveMetrics(c echo.Context) error {
	if a.cfg.MetricsLocal && !auth.FromHere(c.Request()) {
		return echo.ErrNotFound
	}
	a.cfg.Metrics.ServeHTTP(c.Response(), c.Request())
	return nil
}
