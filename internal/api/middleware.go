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

// middleware is what every request passes on its way to its handler, top to bottom.
//
// A panic is turned into an error inside of the access log, so that it is rendered, named and logged like any other
// failure; what stands above it is too simple to panic.
func (a *adapter) middleware() []echo.MiddlewareFunc {
	return []echo.MiddlewareFunc{
		a.requestID,       // a name for the request, in every answer
		a.securityHeaders, // in every answer, problem documents included
		a.trace,           // its span, if somebody follows requests
		a.measure,         // how long the answer took and what it was
		a.accessLog,       // one line, whatever happens below
		a.recoverPanic,    // a panic below is `internal`, its stack logged
		a.match,           // which operation of the contract: 404, 405
		a.limitBody,       // 413, by Content-Length or while reading
		a.origin,          // where the request came from and until when it may take, into its context
		a.authenticate,    // 401, or 429 by address; the caller into the request's context
		a.limitRate,       // 429 by caller
		a.authorize,       // 403, or 404 for what is none of the caller's business; nothing of the request was read yet
		a.charge,          // 429 by what the request costs, as far as that can be told by now
		a.negotiate,       // 406, 415
		a.strictBody,      // 400 for a body that is not strictly one JSON value
		a.validate,        // 400 for what is not as the contract describes it
		a.unchanged,       // 304 in place of what the caller has already
		a.consistency,     // whether its reads may be stale, for its handler; and of when they were, into the answer
		a.follow,          // the span of its handler, if somebody follows requests
	}
}

// chained is all of middleware as one. echo wraps each middleware around the handler of each request anew, which is a closure a layer and
// request; here they are wrapped once, around whatever handler the request brings along.
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

// requestID takes the caller's name for the request, if it is 1 to 128 visible ASCII characters, or makes one.
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

// requestIDOf is the name of a request that has passed requestID.
func requestIDOf(c echo.Context) string { return c.Response().Header().Get(headerRequestID) }

// What is the same in every answer. A header's values are replaced and never written to, so all answers share them.
var (
	nosniff     = []string{"nosniff"}
	unframed    = []string{"DENY"}
	noReferrer  = []string{"no-referrer"}
	nothingRuns = []string{"default-src 'none'; frame-ancestors 'none'"}
	notToBeKept = []string{"no-store"}
	sameOrigin  = []string{"same-origin"}
	onlyTLS     = []string{"max-age=31536000"}
)

// securityHeaders says that answers are data: not to be sniffed, framed, run, kept or read into other pages; and, where TLS is spoken, that it
// always is. Swagger UI's handler, whose page is
// meant to run, replaces the policy by its own.
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
		if c.Request().TLS != nil { // behind a proxy that speaks TLS it is the proxy's to promise
			h["Strict-Transport-Security"] = onlyTLS
		}
		if announces {
			announce.Announce(h)
		}
		return next(c)
	}
}

// panicked is a panic on its way to the renderer.
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
			case http.ErrAbortHandler: // means: cut the connection, say nothing
				panic(r)
			default:
				err = &panicked{value: r, stack: debug.Stack()}
			}
		}()
		return next(c)
	}
}
