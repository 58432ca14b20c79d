package api

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"
)

// Tracer records requests in traces. It must not block, and is safe for concurrent use. It gets no text from the caller except the trace header: no
// path, no query, no body.
type Tracer interface {
	// Follows reports whether a context's trace is recorded.
	Follows(ctx context.Context) bool
	// IDs returns the ids of a context's trace and span, recorded or not.
	IDs(ctx context.Context) (trace, span string)
	// RequestBegan starts a request's span with these headers. The request's work and the next two calls get the returned context.
	RequestBegan(ctx context.Context, header http.Header) context.Context
	RequestRefused(ctx context.Context, code string)
	// RequestEnded ends the span. Its arguments equal Meter's.
	RequestEnded(ctx context.Context, method, route, operation string, status int)
	// UseCaseBegan starts the span of a recorded request's operation. The operation gets the returned context, and so does UseCaseEnded, with the
	// code of the refusal or "".
	UseCaseBegan(ctx context.Context, operation string) context.Context
	UseCaseEnded(ctx context.Context, code string)
}

// trace traces a request from its start to its response, except on the paths of alwaysServed, which probes call all the time.
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

// follow traces a request's handler, and with it its one use case.
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

// refused records a refusal's code in the trace.
func (a *adapter) refused(c echo.Context, code string) {
	if a.cfg.Tracer != nil {
		a.cfg.Tracer.RequestRefused(c.Request().Context(), code)
	}
}
