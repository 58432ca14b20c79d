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

// middleware lists the steps between a request and its handler, top to bottom.
//
// A panic becomes an error inside the access log, so that the adapter renders and logs it like any other failure. The steps above are too simple
// to panic.
func (a *adapter) middleware() []echo.MiddlewareFunc {
	return []echo.MiddlewareFunc{
		a.requestID,       // an id for the request, in every response
		a.securityHeaders, // in every response, problem documents included
		a.trace,           // the request's span, if requests are traced
		a.measure,         // metrics of the response: duration and status
		a.accessLog,       // one line, whatever happens below
		a.recoverPanic,    // a panic below becomes `internal`; the log has its stack
		a.match,           // the contract's operation: 404, 405
		a.limitBody,       // 413, by Content-Length or while reading
		a.origin,          // origin and deadline of the request, into its context
		a.authenticate,    // 401, or 429 by address; the caller into the request's context
		a.limitRate,       // 429 by caller
		a.authorize,       // 403, or 404 for resources that the caller may not know; nothing of the request was read yet
		a.charge,          // 429 by the request's cost, as far as it is known by now
		a.negotiate,       // 406, 415
		a.strictBody,      // 400 for a body that is not strictly one JSON value
		a.validate,        // 400 for a request that violates the contract
		a.unchanged,       // 304 if the caller already has this version
		a.consistency,     // lets reads be stale and reports the age of their data
		a.follow,          // the handler's span, if requests are traced
	}
}

// chained combines the middleware into one. echo wraps each middleware around the handler again for each request, which costs a closure a layer;
// chained wraps them once, around the handler that the call carries.
func (a *adapter) chained() echo.MiddlewareFunc {
	chain := func(c echo.Context) error {
		k, ok := c.(*call)
		if !ok {
			return echo.ErrNotFound
		}
		return k.next(k)
	}
	for _, each := range slices.Backward(a.middleware()) {
		chain = each(chain)
	}
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error { return chain(&call{Context: c, next: next}) }
	}
}

const (
	headerRequestID = "X-Request-Id"
	maxRequestID    = 128
)

// requestID takes the caller's id for the request, if it is 1 to 128 visible ASCII characters, or makes one.
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

// requestIDOf returns the id of a request that has passed requestID.
func requestIDOf(c echo.Context) string { return c.Response().Header().Get(headerRequestID) }

// Header values that every response has. Code replaces a header's values and never writes to them, so all responses share these slices.
var (
	nosniff     = []string{"nosniff"}
	unframed    = []string{"DENY"}
	noReferrer  = []string{"no-referrer"}
	nothingRuns = []string{"default-src 'none'; frame-ancestors 'none'"}
	notToBeKept = []string{"no-store"}
	sameOrigin  = []string{"same-origin"}
	onlyTLS     = []string{"max-age=31536000"}
)

// securityHeaders marks responses as data: browsers must not sniff, frame, execute, store or embed them in other pages. Over TLS it also announces
// that the server always uses TLS. Swagger UI's handler, whose page must run, replaces the policy with its own.
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
		if c.Request().TLS != nil { // behind a proxy that ends TLS, the proxy sets it
			h["Strict-Transport-Security"] = onlyTLS
		}
		if announces {
			announce.Announce(h)
		}
		return next(c)
	}
}

// panicked carries a panic to the renderer.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

func (a *adapter) recoverPanic(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			switch r := recover(); r {
			case nil:
			case http.ErrAbortHandler: // means: cut the connection without a response
				panic(r)
			default:
				err = &panicked{value: r, stack: debug.Stack()}
			}
		}()
		return next(c)
	}
}
