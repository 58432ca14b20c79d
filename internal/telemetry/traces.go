package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// Traces makes spans for requests and background jobs, for their waits and for their statements. Create it with NewTraces, and call Shutdown at the
// end. It is safe for concurrent use.
//
// Each traced package declares the interface that it needs, and passes on the returned context. A request that is not sampled allocates nothing,
// because callers check Follows first, or the methods return the context unchanged.
type Traces struct {
	tracer   trace.Tracer
	runs     *runs
	accept   propagation.TextMapPropagator
	database attribute.KeyValue
	shutdown func(context.Context) error
}

// NewTraces returns Traces. If no exporter is configured, it returns nil. The metrics m count the exports.
func NewTraces(ctx context.Context, o Options, m *Metrics) (*Traces, error) {
	o.complete()
	if disabled(o.Env) {
		return nil, nil
	}
	ways, err := exporters(o.Env, traces)
	if err != nil || len(ways) == 0 {
		return nil, err
	}
	accepted, err := acceptsTraces(o.Env)
	if err := errors.Join(err, checkSampler(o.Env)); err != nil {
		return nil, err
	}
	about, err := o.serviceResource(ctx)
	if err != nil {
		return nil, err
	}
	results := newOutcomes(traces, o.Log)
	results.counts.Store(&m.exports)
	runs := &runs{}
	for _, way := range ways {
		var to sdktrace.SpanExporter
		if way == toConsole {
			to, err = stdouttrace.New(stdouttrace.WithWriter(o.Console))
		} else {
			to, err = otlptracehttp.New(ctx)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot set up the export of traces (%s): %w", way, err)
		}
		runs.next = append(runs.next, sdktrace.NewBatchSpanProcessor(loggedSpans{to, results}))
	}
	return newTraces(sdktrace.NewTracerProvider(sdktrace.WithResource(about), sdktrace.WithSpanProcessor(runs)), runs, accepted), nil
}

// newTraces returns Traces for a provider. All its spans must pass through runs.
func newTraces(provider *sdktrace.TracerProvider, runs *runs, accepted bool) *Traces {
	t := &Traces{
		runs: runs, tracer: provider.Tracer(meterName), accept: propagation.NewCompositeTextMapPropagator(),
		database: semconv.DBSystemNamePostgreSQL, shutdown: provider.Shutdown,
	}
	if accepted {
		t.accept = propagation.TraceContext{}
	}
	return t
}

// Database sets the database engine's name in statement spans. Call it before the first statement.
func (t *Traces) Database(engine string) { t.database = attrDatabase.String(engine) }

// Shutdown exports the remaining spans until ctx ends.
func (t *Traces) Shutdown(ctx context.Context) error { return t.shutdown(ctx) }

// Follows reports whether the spans in ctx are recorded.
func (t *Traces) Follows(ctx context.Context) bool { return trace.SpanFromContext(ctx).IsRecording() }

// IDs returns the trace id and span id in ctx, even if they are not sampled. It returns "" if ctx has none.
func (t *Traces) IDs(ctx context.Context) (traceID, spanID string) {
	at := trace.SpanContextFromContext(ctx)
	if !at.IsValid() {
		return "", ""
	}
	return at.TraceID().String(), at.SpanID().String()
}

// Span options by kind, allocated once.
var (
	asServer = []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer)}
	inside   = trace.WithSpanKind(trace.SpanKindInternal)
)

// RequestBegan starts a request's span. If the caller has sent a trace header, the caller's span is the parent.
func (t *Traces) RequestBegan(ctx context.Context, header http.Header) context.Context {
	ctx, _ = t.tracer.Start(t.accept.Extract(ctx, propagation.HeaderCarrier(header)), spanUnmatched, asServer...)
	return ctx
}

// RequestRefused adds an error's code to the request's span.
func (t *Traces) RequestRefused(ctx context.Context, code string) {
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		span.SetAttributes(attrErrorCode.String(code))
	}
}

// RequestEnded ends a request's span. operation is "" outside the contract, and route is "" for an unknown path.
func (t *Traces) RequestEnded(ctx context.Context, method, route, operation string, status int) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	switch {
	case operation != "":
		span.SetName(operation)
	case route != "":
		span.SetName(knownMethod(method) + " " + route)
	}
	span.SetAttributes(attrMethod.String(knownMethod(method)), attrStatus.Int(status))
	if route != "" {
		span.SetAttributes(attrRoute.String(route))
	}
	if status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, "")
		span.SetAttributes(attrErrorType.Int(status))
	}
	span.End()
}
