package api

import (
	"errors"
	"io"
	"net/http"
	"os"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/api/refuse"
	"github.com/carve-ipam/carve/internal/guard"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// limitBody limits a body's size. It refuses a larger Content-Length at once, and stops reading a chunked body at the limit.
func (a *adapter) limitBody(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		op, r := operationOf(c), c.Request()
		switch {
		case op == nil, op.MediaType == "":
		case r.ContentLength > a.cfg.MaxBody:
			return tooLarge(a.cfg.MaxBody)
		case r.ContentLength < 0: // a body with a Content-Length needs no reader limit: net/http does not read beyond that length
			r.Body = http.MaxBytesReader(c.Response().Writer, r.Body, a.cfg.MaxBody)
		}
		return next(c)
	}
}

func hasBody(r *http.Request) bool {
	if r.ContentLength >= 0 || r.Body == nil {
		return r.ContentLength > 0
	}
	n, _ := io.ReadFull(r.Body, make([]byte, 1))
	return n > 0
}

func tooLarge(limit int64) error {
	return ipam.Errorf(ipam.CodePayloadTooLarge, "The body is larger than %d bytes; send less at once.", limit)
}

// validate refuses a request that violates the contract. It reads the whole body before other code interprets it. If an operation takes no body,
// validate refuses any body.
func (a *adapter) validate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		op, r := operationOf(c), c.Request()
		if op == nil {
			return next(c)
		}
		var data []byte
		switch {
		case op.MediaType != "":
			var err error
			if data, err = io.ReadAll(r.Body); err != nil {
				return unreadable(r, err)
			}
			if r.ContentLength < 0 { // charge has already charged a known length
				if err := tenancy.BudgetOf(r.Context()).Charge(tenancy.Work{Bytes: len(data)}); err != nil {
					return err
				}
			}
		case hasBody(r):
			return refuse.At("", "must be left out: this operation takes no body.")
		}
		if err := op.Check(c, data); err != nil {
			return err
		}
		return next(c)
	}
}

// unreadable returns the error for a body that could not be read to its end. The cause is the caller's connection, so the error does not contain it.
func unreadable(r *http.Request, err error) error {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return tooLarge(large.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded): // the caller was too slow and the read deadline passed; the request's own deadline did not pass, so this is no 5xx
		return refuse.Invalid([]ipam.Field{{Detail: "arrived too slowly; send less in one request."}})
	case errors.Is(err, guard.ErrTooManyBodies):
		return ipam.Errorf(ipam.CodeRateLimited, "The server already receives too many large bodies. Nothing was changed; repeat the request when Retry-After has passed, or send less at once.")
	case r.Context().Err() != nil:
		return r.Context().Err()
	default:
		return refuse.Invalid([]ipam.Field{{Detail: "ended before it was complete."}})
	}
}
