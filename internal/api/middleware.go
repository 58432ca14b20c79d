package api

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/api/auth"
	"github.com/carve-ipam/carve/internal/ipam"
)

// middleware lists the steps between a request and its handler, in the order in which they run.
//
// recoverPanic runs inside accessLog, so that the adapter logs and renders a panic like any other error. The steps before recoverPanic are too simple
// to panic.
func (a *adapter) middleware() []echo.MiddlewareFunc {
	return []echo.MiddlewareFunc{
		a.requestID,       // an id for the request, in every response
		a.securityHeaders, // in every response, problem documents included
		a.trace,           // the request's span, if requests are traced
		a.measure,         // response metrics: duration and status
		a.accessLog,       // one log line, also for errors
		a.recoverPanic,    // a panic in a later step becomes `internal`; the log has its stack
		a.match,           // the contract's operation: 404, 405
		a.limitBody,       // 413, by Content-Length or while reading
		a.origin,          // the request's origin and deadline, into its context
		a.authenticate,    // 401, or 429 by address; the caller into the request's context
		a.limitRate,       // 429 by caller
		a.authorize,       // 403, or 404 for resources that the caller may not know; the body is still unread
		a.charge,          // 429 by the request's cost, as far as it is known before the body is read
		a.negotiate,       // 406, 415
		a.validate,        // 400 for a request that violates the contract, or a body that is not strictly one JSON value
		a.revalidate,      // 304 if the caller already has this version
		a.consistency,     // lets reads be stale and reports their data's age
		a.follow,          // the handler's span, if requests are traced
	}
}

// chain combines the middleware into one function. echo wraps the handler into each middleware for each request, and each wrapping allocates a
// closure. chain wraps them once, around the handler in the call.
func (a *adapter) chain() echo.MiddlewareFunc {
	chain := func(c echo.Context) error {
		k, ok := c.(*call)
		if !ok {
			return echo.ErrNotFound
		}
		return k.next(k)
	}
	for _, wrap := range slices.Backward(a.middleware()) {
		chain = wrap(chain)
	}
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error { return chain(&call{Context: c, next: next}) }
	}
}

const (
	headerRequestID = "X-Request-Id"
	maxRequestID    = 128
)

// requestID takes the request's id from the caller if it is 1 to 128 visible ASCII characters. Otherwise it makes a new id.
func (a *adapter) requestID(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		id := c.Request().Header.Get(headerRequestID)
		if len(id) > maxRequestID || !auth.VisibleASCII(id) {
			id = ipam.NewID().String()
		}
		setHeader(c, headerRequestID, id)
		return next(c)
	}
}

// requestIDOf returns the id that requestID has set.
func requestIDOf(c echo.Context) string { return c.Response().Header().Get(headerRequestID) }

// Header values that every response has. All responses share these slices, because code may replace a header's values but never writes to them.
var (
	nosniff     = []string{"nosniff"}
	unframed    = []string{"DENY"}
	noReferrer  = []string{"no-referrer"}
	nothingRuns = []string{"default-src 'none'; frame-ancestors 'none'"}
	notToBeKept = []string{"no-store"}
	sameOrigin  = []string{"same-origin"}
	onlyTLS     = []string{"max-age=31536000"}
)

// securityHeaders marks responses as data. Browsers must not sniff, frame, execute, store or embed them. Over TLS it also announces that the server
// always uses TLS. Swagger UI's page must execute, so its handler replaces the Content-Security-Policy with its own.
func (a *adapter) securityHeaders(next echo.HandlerFunc) echo.HandlerFunc {
	announce, announces := a.cfg.Authenticator.(auth.Announcer)
	return func(c echo.Context) error {
		h := c.Response().Header()
		h["X-Content-Type-Options"] = nosniff
		h["X-Frame-Options"] = unframed
		h["Referrer-Policy"] = noReferrer
		h["Content-Security-Policy"] = nothingRuns
		h["Cache-Control"] = notToBeKept
		h["Cross-Origin-Resource-Policy"] = sameOrigin
		if c.Request().TLS != nil { // a proxy that ends TLS must set this header itself
			h["Strict-Transport-Security"] = onlyTLS
		}
		if announces {
			announce.Announce(h)
		}
		return next(c)
	}
}

// panicError carries a panic to the renderer.
type panicError struct {
	value any
	stack []byte
}

func (p *panicError) Error() string { return fmt.Sprintf("panic: %v", p.value) }

func (a *adapter) recoverPanic(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			switch r := recover(); r {
			case nil:
			case http.ErrAbortHandler: // http.ErrAbortHandler closes the connection without a response
				panic(r)
			default:
				err = &panicError{value: r, stack: debug.Stack()}
			}
		}()
		return next(c)
	}
}
