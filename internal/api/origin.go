package api

import (
	"context"
	"net"
	"net/netip"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/api/contract"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// origin stores a request's origin and resource in its context, so that the audit trail can record a refused attempt. It also sets the context's
// deadline, which all later code keeps, including the SQL statements.
func (a *adapter) origin(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		o := tenancy.Origin{RequestID: requestIDOf(c), Remote: plainAddress(a.remote(c.Request()))}
		if op := operationOf(c); op != nil {
			o.Operation = op.ID
			o.Resource = resourceOf(c)
		}
		ctx, cancel := context.WithTimeout(c.Request().Context(), a.deadline(c))
		defer cancel()
		visit := &callOf(c).visit
		*visit = tenancy.NewRequestContext(ctx, o)
		c.SetRequest(c.Request().WithContext(visit))
		return next(c)
	}
}

// The time that streamOperation may take beyond a request's deadline: longestWait for a poll, and streamLasts for a stream. A client reconnects when
// its stream ends.
const (
	longestWait = time.Minute
	streamLasts = time.Hour
)

func (a *adapter) deadline(c echo.Context) time.Duration {
	op := operationOf(c)
	switch {
	case op == nil || op.ID != streamOperation:
		return a.cfg.RequestTimeout
	case wantsStream(op, c.Request()):
		return a.cfg.RequestTimeout + streamLasts
	default:
		return a.cfg.RequestTimeout + longestWait
	}
}

// resourceOf returns the first name after the project in the path. For a grant, that is the pool or space.
func resourceOf(c echo.Context) string {
	for _, name := range c.ParamNames() {
		if name != "project" {
			return contract.PathParam(c, name)
		}
	}
	return ""
}

// extractor returns the function that finds a client's address. Without trusted proxies, it is the connection's address. Otherwise it is the last
// address in X-Forwarded-For that is not a trusted proxy. A private address is not trusted unless it is in this list.
func extractor(trusted []netip.Prefix) echo.IPExtractor {
	if len(trusted) == 0 {
		return echo.ExtractIPDirect()
	}
	options := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	for _, p := range trusted {
		p = p.Masked()
		options = append(options, echo.TrustIPRange(&net.IPNet{
			IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen()),
		}))
	}
	return echo.ExtractIPFromXFFHeader(options...)
}

// plainAddress returns an address in the form that Carve uses. An IPv4-mapped IPv6 address becomes IPv4, and a zone is removed.
func plainAddress(s string) string {
	if a, err := netip.ParseAddr(s); err == nil && !a.Is4() {
		return a.Unmap().WithZone("").String()
	}
	return s
}
