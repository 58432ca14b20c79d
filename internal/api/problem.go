package api

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/docs/problems"
	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/api/limits"
	"github.com/carve-ipam/carve/internal/ipam"
)

const (
	maxSteps          = 20 // limit on the steps in an error; an explanation contains all steps
	mimeProblem       = "application/problem+json"
	defaultRetryAfter = time.Second
	internalSentence  = "The server failed to answer this request. It is a bug: report it with the traceId."
)

// kinds maps each code to its status and title. The code's page in docs/problems states both.
var kinds = func() map[ipam.Code]problems.Problem {
	out := map[ipam.Code]problems.Problem{}
	for _, p := range problems.All() {
		out[ipam.Code(p.Code)] = p
	}
	return out
}()

// renderError is the only function that converts an error into a response. echo calls it for every error from middleware, binder and handlers.
func (a *adapter) renderError(err error, c echo.Context) {
	e := classify(err)
	k, ok := kinds[e.Code]
	if !ok {
		e, k = ipam.Errorf(ipam.CodeInternal, "%s", internalSentence).WithCause(err), kinds[ipam.CodeInternal]
	}
	a.logError(c, k.Status, e, err)
	a.traceRefusal(c, string(e.Code))
	if c.Response().Committed {
		return // the response has begun, so the client cannot receive the error
	}
	h := c.Response().Header()
	setErrorHeaders(h, k.Status, e)
	h.Set(echo.HeaderContentType, mimeProblem)
	c.Response().WriteHeader(k.Status)
	if err := json.NewEncoder(c.Response()).Encode(a.problemOf(c, k, e)); err != nil {
		a.cfg.Log.LogAttrs(c.Request().Context(), slog.LevelDebug, "the client did not read the response",
			slog.String("requestId", requestIDOf(c)), slog.Any("cause", err))
	}
}

// classify converts any error into an *ipam.Error.
func classify(err error) *ipam.Error {
	if e, ok := errors.AsType[*ipam.Error](err); ok {
		if e.Code == ipam.CodeInternal {
			return ipam.Errorf(ipam.CodeInternal, "%s", internalSentence).WithCause(err)
		}
		return e
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return ipam.Errorf(ipam.CodeDeadline,
			"The request's deadline passed before the server could respond. A change may have been made; repeat the request with the same name or Idempotency-Key to find out.").
			WithCause(err)
	}
	if e, ok := errors.AsType[*echo.HTTPError](err); ok {
		switch e.Code {
		case http.StatusNotFound:
			return ipam.Errorf(ipam.CodeNotFound, "Nothing exists at this path; /openapi.yaml lists the paths.")
		case http.StatusMethodNotAllowed:
			return ipam.Errorf(ipam.CodeMethodNotAllowed, "This path does not have this method; the header Allow lists its methods.")
		}
	}
	return ipam.Errorf(ipam.CodeInternal, "%s", internalSentence).WithCause(err)
}

// setErrorHeaders writes the response headers that depend on the error's status or figures.
func setErrorHeaders(h http.Header, status int, e *ipam.Error) {
	switch status {
	case http.StatusUnauthorized:
		h.Set(echo.HeaderWWWAuthenticate, "Bearer")
	case http.StatusPreconditionFailed:
		if r := e.Figures.CurrentRevision; r != "" {
			h.Set("ETag", quote(r))
		}
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		if e.RetryAfter == 0 {
			h.Set(echo.HeaderRetryAfter, limits.Seconds(defaultRetryAfter))
		}
	}
	if e.RetryAfter > 0 {
		h.Set(echo.HeaderRetryAfter, limits.Seconds(e.RetryAfter))
	}
}

func quote(revision string) string { return `"` + revision + `"` }

func (a *adapter) problemOf(c echo.Context, k problems.Problem, e *ipam.Error) gen.Problem {
	p := gen.Problem{
		Type: "/problems/" + string(e.Code), Title: k.Title, Status: k.Status, Detail: e.Message,
		Instance: c.Request().URL.EscapedPath(), Code: gen.ProblemCode(e.Code), TraceID: a.traceIDOf(c),
	}
	for _, f := range e.Fields {
		p.Errors = append(p.Errors, gen.ProblemField{Pointer: f.Pointer, Detail: f.Detail})
	}
	f := e.Figures
	p.WantedPrefixLength, p.LargestFreePrefixLength = f.WantedPrefixLength, f.LargestFreePrefixLength
	p.AvailableAddresses, p.PoolsTried, p.ConflictsWith = f.AvailableAddresses, f.PoolsTried, f.ConflictsWith
	p.Claims, p.ChildPools, p.Pools = f.Claims, f.ChildPools, f.Pools
	p.Consumers = f.Consumers
	p.Retained, p.Spaces, p.Fitting = f.Retained, f.Spaces, f.Fitting
	p.Class, p.MissingRoles = f.Class, f.MissingRoles
	p.CoolingDownAddresses, p.CooledDownAt, p.CountedAt = f.CoolingDown, codec.OptionalTime(f.CooledDownAt), codec.OptionalTime(f.CountedAt)
	p.Steps = codec.Each(f.Steps[:min(len(f.Steps), maxSteps)], codec.StepOf)
	p.Quota, p.Measure, p.Limit, p.Used, p.Requested = f.Quota, gen.QuotaMeasure(f.Measure), f.Limit, f.Used, f.Requested
	if f.AllowedMin != nil && f.AllowedMax != nil {
		p.AllowedPrefixLengths = &gen.PrefixLengthRange{Min: *f.AllowedMin, Max: *f.AllowedMax}
	}
	if f.CurrentRevision != "" {
		p.CurrentETag = quote(f.CurrentRevision)
	}
	return p
}

// logError logs an error's cause once, because the caller does not receive it. Only the server's faults get the level error. These are not the
// server's faults:
//
//   - refused requests
//   - clients that disconnect before or during the response
//   - requests refused under overload, which the metrics count
//   - requests refused during shutdown
func (a *adapter) logError(c echo.Context, status int, e *ipam.Error, cause error) {
	attrs := []slog.Attr{
		slog.String("code", string(e.Code)),
		slog.Int("status", status),
		slog.String("route", c.Path()),
		slog.String("requestId", requestIDOf(c)),
		slog.String("cause", cause.Error()),
	}
	attrs = append(attrs, a.traceAttrs(c)...)
	p, isPanic := errors.AsType[*panicError](cause)
	if isPanic {
		attrs = append(attrs, slog.String("stack", string(p.stack)))
	}
	expected := errors.Is(cause, context.Canceled) || errors.Is(cause, ipam.ErrShed) || errors.Is(cause, ErrDraining) || c.Response().Committed
	ctx := c.Request().Context()
	if status >= http.StatusInternalServerError && (isPanic || !expected) {
		a.cfg.Log.LogAttrs(ctx, slog.LevelError, "request failed", attrs...)
		return
	}
	a.cfg.Log.LogAttrs(ctx, slog.LevelDebug, "request refused", attrs...)
}
