package api

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"
)

// Tracer is told of requests, so that somebody can follow them. It must not block, and is safe for concurrent use. It is told nothing that a
// caller has written but the header of its own trace: no path, no query, no body.
type Tracer interface {
	// Follows reports whether somebody follows what is done for a context.
	Follows(ctx context.Context) bool
	// IDs of the trace and the span of a context, followed or not.
	IDs(ctx context.Context) (trace, span string)
	// RequestBegan: a request came in, with these headers. What is done for it gets the context that is answered, and so do the next two.
	RequestBegan(ctx context.Context, header http.Header) context.Context
	RequestRefused(ctx context.Context, code string)
	// RequestEnded: as for Meter.
	RequestEnded(ctx context.Context, method, route, operation string, status int)
	// UseCaseBegan: the operation of a request that is followed begins to do what it is for; it gets the context that is answered, and so does
	// UseCaseEnded, with the code of the refusal or "".
	UseCaseBegan(ctx context.Context, operation string) context.Context
	UseCaseEnded(ctx context.Context, code string)
}

// trace lets whoever follows a request see it from its beginning to its answer. Those who ask all the time how the server is are not followed.
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

// follow lets whoever follows a request see its handler, and with that the one use case that it calls.
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

// refused tells whoever follows a request why it was refused.
func (a *adapter) refused(c echo.Context, code string) {
	if a.cfg.Tracer != nil {
		a.cfg.Tracer.RequestRefused(c.Request().Context(), code)
	}
}
