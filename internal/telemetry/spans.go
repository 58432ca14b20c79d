package telemetry

import (
	"context"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// tally counts a use case's transaction attempts. The use case's context contains it.
type tally struct{ attempts atomic.Int64 }

type tallyKey struct{}

func tallyOf(ctx context.Context) *tally {
	of, _ := ctx.Value(tallyKey{}).(*tally)
	return of
}

// UseCaseBegan starts a use case's span, for a sampled request.
func (t *Traces) UseCaseBegan(ctx context.Context, operation string) context.Context {
	ctx, _ = t.tracer.Start(ctx, spanUseCase+operation, inside)
	return context.WithValue(ctx, tallyKey{}, &tally{})
}

// UseCaseEnded ends the span that UseCaseBegan has started. code is the use case's error code, or "".
func (t *Traces) UseCaseEnded(ctx context.Context, code string) {
	span := trace.SpanFromContext(ctx)
	if n := tallyOf(ctx); n != nil && n.attempts.Load() > 0 {
		span.SetAttributes(attrAttempts.Int64(n.attempts.Load()))
	}
	if code != "" {
		span.SetAttributes(attrErrorCode.String(code))
	}
	span.End()
}

// ClaimDecided adds a claim's result to its span. An unknown class or pool is "", and an unknown length is -1.
func (t *Traces) ClaimDecided(ctx context.Context, class, pool string, prefixLength int, outcome string) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(attrOutcome.String(outcome))
	if class != "" {
		span.SetAttributes(attrClass.String(class))
	}
	if pool != "" {
		span.SetAttributes(attrPool.String(pool))
	}
	if prefixLength >= 0 {
		span.SetAttributes(attrPrefixLength.Int(prefixLength))
	}
}

// servedRequests lists the sampled requests that one transaction on a pool serves. The transaction's context contains it.
type servedRequests struct {
	tally
	members []*tally
}

type servedKey struct{}

// GroupBegan starts the span for a transaction that serves several queued requests. The span belongs to the first sampled request's trace. It has
// links to the spans of the other requests, and these spans have links to it. waited is the time that each request has spent in the queue.
func (t *Traces) GroupBegan(ctx context.Context, pool string, members []context.Context, waited []time.Duration) context.Context {
	var followed []trace.Span
	group := &servedRequests{}
	for i, m := range members {
		span := trace.SpanFromContext(m)
		if !span.IsRecording() {
			continue
		}
		span.SetAttributes(attrBatchSize.Int(len(members)), attrWaited.Float64(waited[i].Seconds()))
		followed = append(followed, span)
		if n := tallyOf(m); n != nil {
			group.members = append(group.members, n)
		}
	}
	if len(followed) == 0 {
		return ctx
	}
	links := make([]trace.Link, 0, len(followed)-1)
	for _, other := range followed[1:] {
		links = append(links, trace.Link{SpanContext: other.SpanContext()})
	}
	ctx, span := t.tracer.Start(trace.ContextWithSpan(ctx, followed[0]), spanGroup, inside, trace.WithLinks(links...),
		trace.WithAttributes(attrPool.String(pool), attrBatchSize.Int(len(members))))
	for _, other := range followed[1:] {
		other.AddLink(trace.Link{SpanContext: span.SpanContext()})
	}
	return context.WithValue(context.WithValue(ctx, servedKey{}, group), tallyKey{}, &group.tally)
}

// GroupEnded ends the span that GroupBegan has started, if there is one.
func (t *Traces) GroupEnded(ctx context.Context) {
	group, ok := ctx.Value(servedKey{}).(*servedRequests)
	if !ok {
		return
	}
	span := trace.SpanFromContext(ctx)
	n := group.attempts.Load()
	for _, m := range group.members {
		m.attempts.Add(n)
	}
	span.SetAttributes(attrAttempts.Int64(n))
	span.End()
}

// AttemptBegan starts the span for one attempt at a transaction or read. number counts from 0.
func (t *Traces) AttemptBegan(ctx context.Context, op string, number int, read bool) context.Context {
	if n := tallyOf(ctx); n != nil && !read {
		n.attempts.Add(1)
	}
	ctx, _ = t.tracer.Start(ctx, spanAttempt+op, inside, trace.WithAttributes(attrOp.String(op), attrAttempt.Int(number+1)))
	return ctx
}

// failures contains the values of end that count as errors.
var failures = map[string]bool{"again": true, "unknown": true, "panicked": true}

// AttemptEnded ends the span that AttemptBegan has started.
func (t *Traces) AttemptEnded(ctx context.Context, end, sqlState string) {
	span := trace.SpanFromContext(ctx)
	span.SetAttributes(attrEnd.String(end))
	if sqlState != "" {
		span.SetAttributes(attrSQLState.String(sqlState))
	}
	if failures[end] {
		span.SetStatus(codes.Error, end)
	}
	span.End()
}

// lengthOfSQLState distinguishes an SQLSTATE, which has five characters, from the words for other failures.
const lengthOfSQLState = 5

// StatementRan makes a statement's span. The span has the statement's name, but neither its text nor its values. pipelined is the number of
// statements that were sent together. failure is "" after a success, otherwise the SQLSTATE, or a word for a failure without an SQLSTATE.
func (t *Traces) StatementRan(ctx context.Context, name string, from, to time.Time, rows int64, pipelined int, failure string) {
	attributes := make([]attribute.KeyValue, 0, 6)
	attributes = append(attributes, t.database, attrStatement.String(name), attrRows.Int64(rows))
	if pipelined > 1 {
		attributes = append(attributes, attrPipelined.Int(pipelined))
	}
	if failure != "" {
		attributes = append(attributes, attrErrorType.String(failure))
	}
	if len(failure) == lengthOfSQLState {
		attributes = append(attributes, attrSQLState.String(failure))
	}
	_, span := t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(from), trace.WithAttributes(attributes...))
	if failure != "" {
		span.SetStatus(codes.Error, "")
	}
	span.End(trace.WithTimestamp(to))
}
