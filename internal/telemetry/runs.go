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

// Jobs that run every second usually find no work. A sampled run's trace is kept only if the run did work, failed or was slow. Otherwise each idle
// server would export eight spans a second, and more for each multi-region pool. The type runs buffers the spans of a run until its end, because only
// then it is known whether the run did work.
const (
	slowRun = time.Second // a run that takes at least this long is kept even if it did no work
	maxHeld = 512         // limit on buffered spans in one run; a run with more spans is kept, because it has done work
)

// Run is the result of one run of a background job.
type Run struct {
	Done    int64 // processed items, such as blocks, rows or pools
	Took    time.Duration
	Err     error
	Stopped bool // the server's shutdown cut the run short
}

// stopped is the outcome if the shutdown cut a run short. Only spans have this outcome. The metrics do not count such a run.
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

// JobBegan starts the trace for one run. Pass the returned context to the run and to JobEnded.
func (t *Traces) JobBegan(ctx context.Context, task string) context.Context {
	ctx, span := t.tracer.Start(ctx, spanJob+task, inside, trace.WithNewRoot(), trace.WithAttributes(attrTask.String(task)))
	if !span.IsRecording() {
		return ctx
	}
	t.runs.begin(span.SpanContext().TraceID())
	return context.WithValue(ctx, tallyKey{}, &tally{})
}

// JobEnded ends the trace that JobBegan has started, and reports whether it is kept.
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
		span.SetStatus(codes.Error, "") // without a text: the error may contain data that must not be in a span, and is in the log
	}
	span.End()
	return t.runs.end(span.SpanContext().TraceID(), r.Done > 0 || outcome == failed || r.Took >= slowRun)
}

// runs buffers a job run's spans until the run ends. It passes on all other spans at once. It implements sdktrace.SpanProcessor.
type runs struct {
	next []sdktrace.SpanProcessor
	held sync.Map // *heldRun by trace.TraceID; a sync.Map, because every span that ends looks up its trace here
}

type heldRun struct {
	mu    sync.Mutex
	spans []sdktrace.ReadOnlySpan
	large bool // the run had more than maxHeld spans, so nothing is buffered any more
}

func (r *runs) begin(id trace.TraceID) { r.held.Store(id, &heldRun{}) }

// end passes on a run's buffered spans or, if keep is false, drops them. A run with too many spans is always kept.
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
