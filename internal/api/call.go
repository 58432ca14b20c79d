package api

import (
	"errors"
	"net/url"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api/contract"
	"github.com/carve-ipam/carve/internal/api/limits"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// call is echo's context with what the middleware knows of a request, which would otherwise be a map of any made for each.
type call struct {
	echo.Context

	op      *contract.Operation
	reading usecase.Reading  // what is asked of its reads
	next    echo.HandlerFunc // what the router found

	visit    tenancy.Visit
	attempts limits.Attempts // of the client's address, to say who it is
	budget   limits.Budget   // of the caller

	waited time.Duration // for others, which is no part of what its answer takes

	headers [4]string // values of the answer's headers, of which each has one
	given   int
}

// callOf is the call of a request; one that nobody else sees, for what has not passed chained.
func callOf(c echo.Context) *call {
	if k, ok := c.(*call); ok {
		return k
	}
	return &call{Context: c}
}

// setHeader sets a header of the answer, by its canonical name, to one value, which the call keeps if it has room.
func setHeader(c echo.Context, name, value string) {
	k, ok := c.(*call)
	if !ok || k.given == len(k.headers) {
		c.Response().Header()[name] = []string{value}
		return
	}
	k.headers[k.given] = value
	k.given++
	c.Response().Header()[name] = k.headers[k.given-1 : k.given : k.given]
}

// noQuery is the parameters of a request without any.
var noQuery = url.Values{}

// QueryParams implements echo.Context; it parses nothing where there is nothing.
func (k *call) QueryParams() url.Values {
	if k.Request().URL.RawQuery == "" {
		return noQuery
	}
	return k.Context.QueryParams()
}

// operationOf is the operation that a request was matched to; nil for what is outside of the contract.
func operationOf(c echo.Context) *contract.Operation {
	if k, ok := c.(*call); ok {
		return k.op
	}
	return nil
}

// visitOf is the visit of a request that has passed origin.
func visitOf(c echo.Context) (*tenancy.Visit, error) {
	if v, ok := tenancy.VisitOf(c.Request().Context()); ok {
		return v, nil
	}
	return nil, ipam.Errorf(ipam.CodeInternal, "The request cannot be served.").Because(errors.New("nobody noted where it came from: origin must stand before authenticate"))
}
