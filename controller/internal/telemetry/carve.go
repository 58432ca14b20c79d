package telemetry

import (
	"net/http"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Carve is an HTTP transport for calls to Carve. It counts the calls, creates a span for each call, and records whether Carve is reachable. The
// server's spans are children of the call's span.
type Carve struct {
	// Next sends the requests.
	Next http.RoundTripper

	mu   sync.Mutex
	last Reach
}

// Reach describes the last call to Carve.
type Reach struct {
	// Asked means that there was a call.
	Asked bool `json:"asked"`
	// Reachable means that Carve has responded to the last call.
	Reachable bool `json:"reachable"`
	// Since is when Reachable last changed.
	Since time.Time `json:"since,omitzero"`
	// Error is the reason why Carve was unreachable.
	Error string `json:"error,omitempty"`
}

// Reach describes the last call.
func (c *Carve) Reach() Reach {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// RoundTrip implements http.RoundTripper.
func (c *Carve) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, span := otel.Tracer(scope).Start(r.Context(), "carve "+r.Method, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("http.request.method", r.Method), attribute.String("server.address", r.URL.Hostname()), attribute.String("url.path", r.URL.Path)))
	defer span.End()
	r = r.Clone(ctx)
	otel.GetTextMapPropagator().Inject(ctx, propagation.HeaderCarrier(r.Header))
	began := time.Now()
	answer, err := c.Next.RoundTrip(r)
	if ctx.Err() == nil { // otherwise the caller has cancelled the call, and the error does not show whether Carve is reachable
		c.note(err)
	}
	calls.WithLabelValues(r.Method, outcome(answer, err)).Observe(time.Since(began).Seconds())
	switch {
	case err != nil:
		span.SetStatus(codes.Error, err.Error())
	default:
		span.SetAttributes(attribute.Int("http.response.status_code", answer.StatusCode))
		if answer.StatusCode >= http.StatusBadRequest {
			span.SetStatus(codes.Error, "")
		}
	}
	return answer, err
}

func (c *Carve) note(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := Reach{Asked: true, Reachable: err == nil, Since: c.last.Since}
	if err != nil {
		now.Error = err.Error()
	}
	if !c.last.Asked || c.last.Reachable != now.Reachable {
		now.Since = time.Now()
	}
	c.last = now
}

// outcome returns a call's result as a metric label.
func outcome(answer *http.Response, err error) string {
	switch {
	case err != nil:
		return "unanswered"
	case answer.StatusCode < http.StatusBadRequest:
		return "ok"
	case answer.StatusCode == http.StatusTooManyRequests, answer.StatusCode == http.StatusServiceUnavailable:
		return "shed"
	case answer.StatusCode < http.StatusInternalServerError:
		return "refused"
	default:
		return "failed"
	}
}
