package api

import (
	"context"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/api/auth"
)

// Meter records every finished request. It must not block, and is safe for concurrent use.
type Meter interface {
	// RequestServed records one request. route is the path's template, or "" for an unknown path. operation is the operationId, or "" if no operation
	// matched. took excludes the time for which the request waited for changes.
	RequestServed(ctx context.Context, method, route, operation string, status int, took time.Duration)
}

// measure reports each response's status and duration to the meter. It subtracts the time that the request spent waiting for changes.
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

// serveMetrics serves the metrics. With MetricsLocal, other machines get 404.
func (a *adapter) serveMetrics(c echo.Context) error {
	if a.cfg.MetricsLocal && !auth.FromThisMachine(c.Request()) {
		return echo.ErrNotFound
	}
	a.cfg.Metrics.ServeHTTP(c.Response(), c.Request())
	return nil
}
