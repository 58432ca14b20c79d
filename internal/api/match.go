package api

import (
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/api/contract"
	"github.com/carve-ipam/carve/internal/api/refuse"
	"github.com/carve-ipam/carve/internal/ipam"
)

// match finds a request's operation in the contract.
func (a *adapter) match(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		methods := a.contract.Methods(c.Path())
		if methods == nil {
			return next(c)
		}
		// The router puts a path's rest, with its slashes, into the last parameter.
		if slices.ContainsFunc(c.ParamValues(), func(v string) bool { return v == "" || strings.Contains(v, "/") }) {
			return echo.ErrNotFound
		}
		op, ok := methods[c.Request().Method]
		if !ok {
			c.Response().Header().Set(echo.HeaderAllow, contract.Allowed(methods))
			return ipam.Errorf(ipam.CodeMethodNotAllowed, "This path does not have the method %s; it has %s.",
				refuse.Clip(c.Request().Method), contract.Allowed(methods))
		}
		if k, ok := c.(*call); ok {
			k.op = op
		}
		return next(c)
	}
}
