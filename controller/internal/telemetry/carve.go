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

// Carve carries calls to Carve: each is counted, is a span that Carve's own spans are under, and says whether Carve can be reached.
type Carve struct {
	// Next carries them on.
	Next http.RoundTripper

	mu   sync.Mutex
	last Reach
}

// Reach is what the last call to Carve has shown.
type Reach struct {
	// Asked says that there was a call.
	Asked bool `json:"asked"`
	// Reachable says that Carve has answered it.
	Reachable bool `json:"reachable"`
	// Since is when that has changed last.
	Since time.Time `json:"since,omitzero"`
	// Error is why Carve could not be reached.
	Error string `json:"error,omitempty"`
}

// Reach answers what the last call has shown.
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
	if ctx.Err() == nil { // else it was given up here, and says nothing of Carve
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

// outcome is what came of a call, in a word.
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
