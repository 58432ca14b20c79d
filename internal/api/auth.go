package api

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/tenancy"
)

// Authenticator finds out who is asking. It answers an *ipam.Error with code unauthenticated when the credentials are
// missing or not valid. It is asked once for each request to an operation that needs credentials.
type Authenticator interface {
	Authenticate(r *http.Request) (tenancy.Principal, error)
}

// announcer is an Authenticator that says something about itself in the header of every answer.
type announcer interface {
	Announce(h http.Header)
}

// authenticate puts the caller into the request's context, where the use cases look for it.
//
// What fails counts against the client's address: while it has used up its attempts, it is told so and not what was wrong with
// its credentials, and nothing is looked up for credentials that are not known to be valid.
func (a *adapter) authenticate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		op := operationOf(c)
		if op == nil || op.public {
			return next(c)
		}
		visit, err := visitOf(c)
		if err != nil {
			return err
		}
		tries := a.attempts(visit)
		defer tries.end()
		visit.Try(tries, op.permission.Lasting())
		who, err := a.cfg.Authenticator.Authenticate(c.Request())
		if err != nil {
			return tries.failed(c.Response().Header(), err)
		}
		tries.end()
		visit.Identify(who)
		return next(c)
	}
}

// authorize asks whether the caller may do what the operation does, before anything of the request is read. Refusals are recorded,
// but not so many that a stranger could bury somebody's trail under them: the first ones of a caller, then some.
func (a *adapter) authorize(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		op := operationOf(c)
		if op == nil || op.public {
			return next(c)
		}
		ctx := c.Request().Context()
		limiter, who := a.cfg.Limits.Refusals, ""
		if p, ok := tenancy.From(ctx); ok && limiter != nil {
			who, _, _ = strings.Cut(p.Subject, "/")
			if !limiter.Check(who).Allowed {
				ctx = tenancy.WithoutRecord(ctx)
			}
		}
		err := a.cfg.Service.Admit(ctx, op.permission, pathParam(c, "project"))
		if err != nil {
			if limiter != nil {
				limiter.Take(who)
			}
			return err
		}
		return next(c)
	}
}
