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

// call is echo's context with the state that the middleware keeps for a request. Fields replace echo's Set and Get, which allocate a map for each
// request.
type call struct {
	echo.Context

	op      *contract.Operation
	reading usecase.Reading  // consistency for the request's reads
	next    echo.HandlerFunc // handler that the router found

	visit    tenancy.RequestContext
	attempts limits.Attempts // authentication attempts from the client's address
	budget   limits.Budget   // the caller's budget

	waited time.Duration // time spent waiting for changes; metrics subtract it from the duration

	headers     [4]string // values for response headers with one value each
	headerCount int
}

// callOf returns a request's call, or a new call for a request that has not passed chain.
func callOf(c echo.Context) *call {
	if k, ok := c.(*call); ok {
		return k
	}
	return &call{Context: c}
}

// setHeader sets a response header, by its canonical name, to one value. It stores the value in call.headers while there is room, to save an
// allocation.
func setHeader(c echo.Context, name, value string) {
	k, ok := c.(*call)
	if !ok || k.headerCount == len(k.headers) {
		c.Response().Header()[name] = []string{value}
		return
	}
	k.headers[k.headerCount] = value
	k.headerCount++
	c.Response().Header()[name] = k.headers[k.headerCount-1 : k.headerCount : k.headerCount]
}

// noQuery is the result of QueryParams for a request without a query.
var noQuery = url.Values{}

// QueryParams implements echo.Context. It does not parse an empty query.
func (k *call) QueryParams() url.Values {
	if k.Request().URL.RawQuery == "" {
		return noQuery
	}
	return k.Context.QueryParams()
}

// operationOf returns the operation that a request matches, or nil if the path is outside the contract.
func operationOf(c echo.Context) *contract.Operation {
	if k, ok := c.(*call); ok {
		return k.op
	}
	return nil
}

// contextOf returns the tenancy.RequestContext that the middleware origin has made for a request.
func contextOf(c echo.Context) (*tenancy.RequestContext, error) {
	if v, ok := tenancy.RequestContextOf(c.Request().Context()); ok {
		return v, nil
	}
	return nil, ipam.Errorf(ipam.CodeInternal, "The request cannot be served.").WithCause(errors.New("the request has no RequestContext: the middleware origin must run before authenticate"))
}
