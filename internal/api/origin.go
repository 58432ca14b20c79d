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

// origin notes where a request came from and what it is about, so that an attempt without the right to it can be recorded, and gives its
// context the deadline that everything below keeps, down to the SQL.
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
		*visit = tenancy.NewVisit(ctx, o)
		c.SetRequest(c.Request().WithContext(visit))
		return next(c)
	}
}

// How long the answers of streamOperation may take on top of a request's deadline: one that waits, and a stream, whose caller connects again then.
const (
	longestWait = time.Minute
	streamLasts = time.Hour
)

func (a *adapter) deadline(c echo.Context) time.Duration {
	op := operationOf(c)
	switch {
	case op == nil || op.ID != streamOperation:
		return a.cfg.RequestTimeout
	case streams(op, c.Request()):
		return a.cfg.RequestTimeout + streamLasts
	default:
		return a.cfg.RequestTimeout + longestWait
	}
}

// resourceOf is the first name in the path below the project: a grant is about the pool or space that it is of.
func resourceOf(c echo.Context) string {
	for _, name := range c.ParamNames() {
		if name != "project" {
			return contract.PathParam(c, name)
		}
	}
	return ""
}

// extractor finds the address of a client: that of the connection, or, as far as proxies are trusted, the nearest one in
// X-Forwarded-For that is none of theirs. Nobody is trusted for having a private address.
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

// plainAddress spells an address as IPAM does: IPv4 without its IPv6 clothing.
func plainAddress(s string) string {
	if a, err := netip.ParseAddr(s); err == nil && !a.Is4() {
		return a.Unmap().WithZone("").String()
	}
	return s
}
