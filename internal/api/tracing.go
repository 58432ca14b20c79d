package api

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"
)

// Tracer records requests in traces. It must not block, and is safe for concurrent use. The trace header is the only text from the caller that it
// receives. It receives no path, no query and no body.
type Tracer interface {
	// Follows reports whether a context's trace is recorded.
	Follows(ctx context.Context) bool
	// IDs returns a context's trace id and span id, even if they are not recorded.
	IDs(ctx context.Context) (trace, span string)
	// RequestBegan starts a request's span from the request's headers. It returns the context for the handler, for RequestRefused and for RequestEnded.
	RequestBegan(ctx context.Context, header http.Header) context.Context
	RequestRefused(ctx context.Context, code string)
	// RequestEnded ends the span. Its arguments have the same meaning as those of Meter.RequestServed.
	RequestEnded(ctx context.Context, method, route, operation string, status int)
	// UseCaseBegan starts an operation's span, if the request is recorded. It returns the context for the operation and for UseCaseEnded. code is
	// the operation's error code, or "".
	UseCaseBegan(ctx context.Context, operation string) context.Context
	UseCaseEnded(ctx context.Context, code string)
}

// trace traces a request from its start to its response. It skips alwaysServed paths, because probes call them all the time.
func (a *adapter) trace(next echo.HandlerFunc) echo.HandlerFunc {
	to := a.cfg.Tracer
	if to == nil {
		return next
	}
	return func(c echo.Context) error {
		r := c.Request()
		if alwaysServed(r.URL.Path) {
			return next(c)
		}
		ctx := to.RequestBegan(r.Context(), r.Header)
		c.SetRequest(r.WithContext(ctx))
		defer func() {
			operation := ""
			if op := operationOf(c); op != nil {
				operation = op.ID
			}
			to.RequestEnded(ctx, r.Method, c.Path(), operation, c.Response().Status)
		}()
		return next(c)
	}
}

// follow traces a request's handler and the one use case that the handler calls.
func (a *adapter) follow(next echo.HandlerFunc) echo.HandlerFunc {
	to := a.cfg.Tracer
	if to == nil {
		return next
	}
	return func(c echo.Context) error {
		op, r := operationOf(c), c.Request()
		if op == nil || !to.Follows(r.Context()) {
			return next(c)
		}
		ctx, code := to.UseCaseBegan(r.Context(), op.ID), "panic"
		defer func() { to.UseCaseEnded(ctx, code) }()
		c.SetRequest(r.WithContext(ctx))
		defer c.SetRequest(r)
		err := next(c)
		code = ""
		if err != nil {
			code = string(classify(err).Code)
		}
		return err
	}
}

// traceRefusal records an error's code in the trace.
func (a *adapter) traceRefusal(c echo.Context, code string) {
	if a.cfg.Tracer != nil {
		a.cfg.Tracer.RequestRefused(c.Request().Context(), code)
	}
}
