package api

import (
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/api/contract"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// authenticate puts the caller into the request's context, where the use cases look for it.
//
// What fails counts against the client's address: while it has used up its attempts, it is told so and not what was wrong with
// its credentials, and nothing is looked up for credentials that are not known to be valid.
func (a *adapter) authenticate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		op := operationOf(c)
		if op == nil || op.Public {
			return next(c)
		}
		visit, err := visitOf(c)
		if err != nil {
			return err
		}
		tries := &callOf(c).attempts
		*tries = a.cfg.Limits.AttemptsFrom(tenancy.OriginOf(visit).Remote)
		defer tries.End()
		visit.Try(tries, op.Permission.Lasting())
		who, err := a.cfg.Authenticator.Authenticate(c.Request())
		if err != nil {
			return tries.Failed(c.Response().Header(), err)
		}
		tries.End()
		visit.Identify(who)
		return next(c)
	}
}

// authorize asks whether the caller may do what the operation does, before anything of the request is read. Refusals are recorded,
// but not so many that a stranger could bury somebody's trail under them: the first ones of a caller, then some.
func (a *adapter) authorize(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		op := operationOf(c)
		if op == nil || op.Public {
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
		err := a.cfg.Service.Admit(ctx, op.Permission, contract.PathParam(c, "project"))
		if err != nil {
			if limiter != nil {
				limiter.Take(who)
			}
			return err
		}
		return next(c)
	}
}
