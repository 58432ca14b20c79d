package telemetry

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Jobs that run each second mostly find nothing to do. Of those runs that are sampled the trace is kept when they did something, failed, or were slow: who
// follows everything would otherwise get eight spans a second of each server with nothing to do, and more for each pool of several regions. Whether there was something is known at the end only, so the
// spans are held back until then.
const (
	slowRun = time.Second // a look that takes as long is seen although it found nothing
	maxHeld = 512         // spans of one run. With more of them it is no run that found nothing, and they are passed on
)

// Run is how a run of a background job ended.
type Run struct {
	Done    int64 // how much it found to do, and did: blocks, rows, pools
	Took    time.Duration
	Err     error
	Stopped bool // the server stops, and cut it short
}

// The outcome of a run that was cut short; the others are those of the metrics.
const stopped = "stopped"

func (r Run) outcome() string {
	switch {
	case r.Stopped:
		return stopped
	case r.Err != nil:
		return failed
	default:
		return wentWell
	}
}

// JobBegan begins the trace of a run of a background job. What is done for it gets the context that is answered, and so does JobEnded.
func (t *Traces) JobBegan(ctx context.Context, task string) context.Context {
	ctx, span := t.tracer.Start(ctx, spanJob+task, inside, trace.WithNewRoot(), trace.WithAttributes(attrTask.String(task)))
	if !span.IsRecording() {
		return ctx
	}
	t.runs.begin(span.SpanContext().TraceID())
	return context.WithValue(ctx, tallyKey{}, &tally{})
}

// JobEnded ends the trace that JobBegan has begun, and reports whether it is kept.
func (t *Traces) JobEnded(ctx context.Context, r Run) (kept bool) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return false
	}
	outcome := r.outcome()
	span.SetAttributes(attrOutcome.String(outcome), attrDone.Int64(r.Done))
	if n := tallyOf(ctx); n != nil && n.attempts.Load() > 0 {
		span.SetAttributes(attrAttempts.Int64(n.attempts.Load()))
	}
	if outcome == failed {
		span.SetAttributes(attrErrorCode.String(string(ipam.CodeOf(r.Err))))
		span.SetStatus(codes.Error, "") // what it says is in the log: an error may hold what nobody should see in a span
	}
	span.End()
	return t.runs.end(span.SpanContext().TraceID(), r.Done > 0 || outcome == failed || r.Took >= slowRun)
}

// runs holds the spans of runs back. All other spans go on at once. It implements sdktrace.SpanProcessor.
type runs struct {
	next []sdktrace.SpanProcessor
	held sync.Map // of *heldRun, by trace.TraceID: a handful, which the spans of requests look up without a lock
}

type heldRun struct {
	mu    sync.Mutex
	spans []sdktrace.ReadOnlySpan
	large bool // nothing is held back any more
}

func (r *runs) begin(id trace.TraceID) { r.held.Store(id, &heldRun{}) }

// end passes on what was held back, or drops it.
func (r *runs) end(id trace.TraceID, keep bool) (kept bool) {
	found, _ := r.held.LoadAndDelete(id)
	run, ok := found.(*heldRun)
	if !ok {
		return false
	}
	run.mu.Lock()
	defer run.mu.Unlock()
	if !keep && !run.large {
		return false
	}
	r.pass(run.spans)
	return true
}

func (r *runs) pass(spans []sdktrace.ReadOnlySpan) {
	for _, s := range spans {
		for _, n := range r.next {
			n.OnEnd(s)
		}
	}
}

// OnStart implements sdktrace.SpanProcessor.
func (r *runs) OnStart(ctx context.Context, span sdktrace.ReadWriteSpan) {
	for _, n := range r.next {
		n.OnStart(ctx, span)
	}
}

// OnEnd implements sdktrace.SpanProcessor.
func (r *runs) OnEnd(span sdktrace.ReadOnlySpan) {
	found, _ := r.held.Load(span.SpanContext().TraceID())
	run, ok := found.(*heldRun)
	if !ok {
		r.pass([]sdktrace.ReadOnlySpan{span})
		return
	}
	run.mu.Lock()
	defer run.mu.Unlock()
	run.spans = append(run.spans, span)
	if run.large = run.large || len(run.spans) > maxHeld; run.large {
		r.pass(run.spans)
		run.spans = nil
	}
}

// Shutdown implements sdktrace.SpanProcessor.
func (r *runs) Shutdown(ctx context.Context) error {
	var errs []error
	for _, n := range r.next {
		errs = append(errs, n.Shutdown(ctx))
	}
	return errors.Join(errs...)
}

// ForceFlush implements sdktrace.SpanProcessor.
func (r *runs) ForceFlush(ctx context.Context) error {
	var errs []error
	for _, n := range r.next {
		errs = append(errs, n.ForceFlush(ctx))
	}
	return errors.Join(errs...)
}
