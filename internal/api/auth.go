package api

import (
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/api/contract"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// authenticate puts the caller into the request's context, where the use cases read it.
//
// Each failure counts as an attempt from the client's address. If an address has used all its attempts, its clients get 429 instead of the error
// about their credentials. The server then still accepts credentials that it knows to be valid, but looks up no others.
func (a *adapter) authenticate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		op := operationOf(c)
		if op == nil || op.Public {
			return next(c)
		}
		visit, err := contextOf(c)
		if err != nil {
			return err
		}
		tries := &callOf(c).attempts
		*tries = a.cfg.Limits.AttemptsFrom(tenancy.OriginOf(visit).Remote)
		defer tries.End()
		visit.SetAttempts(tries, op.Permission.Lasting())
		who, err := a.cfg.Authenticator.Authenticate(c.Request())
		if err != nil {
			return tries.Failed(c.Response().Header(), err)
		}
		tries.End()
		visit.SetPrincipal(who)
		return next(c)
	}
}

// authorize checks whether the caller may run the operation, before the server reads the body. It records refused attempts in the project's audit
// trail. It limits these records for each caller, so that a stranger cannot flood the trail.
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
