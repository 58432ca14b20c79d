package telemetry

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/carve-ipam/carve/internal/ipam"
)

// following returns traces with a sampler, and the exporter that receives the spans.
func following(t *testing.T, sampler sdktrace.Sampler) (*Traces, *tracetest.InMemoryExporter) {
	t.Helper()
	arrived := tracetest.NewInMemoryExporter()
	held := &runs{next: []sdktrace.SpanProcessor{sdktrace.NewSimpleSpanProcessor(arrived)}}
	tr := newTraces(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(held), sdktrace.WithSampler(sampler)), held, true)
	return tr, arrived
}

// attempt records one transaction of a job's run.
func attempt(ctx context.Context, tr *Traces) {
	within := tr.AttemptBegan(ctx, "cooldown_free", 0, false)
	tr.StatementRan(within, "free_delete_one", time.Now(), time.Now(), 1, 1, "")
	tr.AttemptEnded(within, "committed", "")
}

func TestNotableJobRunsAreTraced(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		run     Run
		kept    bool
		outcome string
		status  codes.Code
		refusal string
	}{
		"FoundNothing":           {Run{Took: slowRun - 1}, false, "", codes.Unset, ""},
		"DidSomething":           {Run{Done: 3}, true, "ok", codes.Unset, ""},
		"WasSlow":                {Run{Took: slowRun}, true, "ok", codes.Unset, ""},
		"Failed":                 {Run{Err: errors.New("hush")}, true, "failed", codes.Error, "internal"},
		"FailedInAKnownWay":      {Run{Err: &ipam.Error{Code: ipam.CodeUnavailable, Message: "hush"}}, true, "failed", codes.Error, "unavailable"},
		"WasCutShort":            {Run{Err: context.Canceled, Stopped: true}, false, "", codes.Unset, ""},
		"WasCutShortHalfwayDone": {Run{Done: 1, Err: context.Canceled, Stopped: true}, true, "stopped", codes.Unset, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr, arrived := following(t, sdktrace.AlwaysSample())
			ctx := tr.JobBegan(t.Context(), "free_cooled")
			require.True(t, tr.Follows(ctx))
			attempt(ctx, tr)
			require.Empty(t, arrived.GetSpans(), "it is not known yet whether there is something to see")
			require.Equal(t, c.kept, tr.JobEnded(ctx, c.run))
			spans := arrived.GetSpans()
			if !c.kept {
				require.Empty(t, spans)
				return
			}
			require.Len(t, spans, 3, "with what is beneath it")
			root := spans[2]
			require.Equal(t, "job free_cooled", root.Name)
			require.False(t, root.Parent.IsValid())
			require.Equal(t, root.SpanContext.SpanID(), spans[1].Parent.SpanID())
			require.Equal(t, spans[1].SpanContext.SpanID(), spans[0].Parent.SpanID())
			require.Equal(t, c.status, root.Status.Code)
			want := []attribute.KeyValue{attrTask.String("free_cooled"), attrOutcome.String(c.outcome), attrDone.Int64(c.run.Done), attrAttempts.Int64(1)}
			if c.refusal != "" {
				want = append(want, attrErrorCode.String(c.refusal))
			}
			require.ElementsMatch(t, want, root.Attributes, "and nothing of what the error says")
			require.Empty(t, root.Status.Description)
			require.Empty(t, root.Events)
		})
	}
}

func TestJobRunStartsItsOwnTrace(t *testing.T) {
	t.Parallel()
	tr, _ := following(t, sdktrace.AlwaysSample())
	outer := tr.RequestBegan(t.Context(), nil)
	of, _ := tr.IDs(outer)
	job, _ := tr.IDs(tr.JobBegan(outer, "keep_stocks"))
	require.NotEqual(t, of, job)
}

func TestRequestTracesDoNotWaitForJobRuns(t *testing.T) {
	t.Parallel()
	tr, arrived := following(t, sdktrace.AlwaysSample())
	job := tr.JobBegan(t.Context(), "free_cooled")
	attempt(job, tr)
	tr.RequestEnded(tr.RequestBegan(t.Context(), nil), http.MethodGet, "/v1/projects", "listProjects", http.StatusOK)
	require.Len(t, arrived.GetSpans(), 1)
	require.Equal(t, "listProjects", arrived.GetSpans()[0].Name)
	require.False(t, tr.JobEnded(job, Run{}))
	require.Len(t, arrived.GetSpans(), 1)
}

func TestLargeJobRunIsExportedEarly(t *testing.T) {
	t.Parallel()
	tr, arrived := following(t, sdktrace.AlwaysSample())
	ctx := tr.JobBegan(t.Context(), "expire_events")
	for range maxHeld {
		tr.StatementRan(ctx, "event_expire", time.Now(), time.Now(), 1, 1, "")
	}
	require.Empty(t, arrived.GetSpans())
	tr.StatementRan(ctx, "event_expire", time.Now(), time.Now(), 1, 1, "")
	require.Len(t, arrived.GetSpans(), maxHeld+1, "memory is bounded")
	tr.StatementRan(ctx, "event_expire", time.Now(), time.Now(), 1, 1, "")
	require.Len(t, arrived.GetSpans(), maxHeld+2)
	require.True(t, tr.JobEnded(ctx, Run{}), "its spans are there already, and belong together")
	require.Len(t, arrived.GetSpans(), maxHeld+3)
}

func TestUnsampledJobRunsHaveNoTrace(t *testing.T) {
	t.Parallel()
	tr, arrived := following(t, sdktrace.NeverSample())
	ctx := tr.JobBegan(t.Context(), "free_cooled")
	require.False(t, tr.Follows(ctx))
	attempt(ctx, tr)
	require.False(t, tr.JobEnded(ctx, Run{Err: errors.New("hush")}))
	require.Empty(t, arrived.GetSpans())
	require.Zero(t, heldRuns(tr), "nothing is waited for")
}

func TestEndedJobRunIsReleased(t *testing.T) {
	t.Parallel()
	tr, _ := following(t, sdktrace.AlwaysSample())
	one, other := tr.JobBegan(t.Context(), "free_cooled"), tr.JobBegan(t.Context(), "keep_stocks")
	require.Equal(t, 2, heldRuns(tr))
	tr.JobEnded(one, Run{})
	tr.JobEnded(other, Run{Done: 1})
	require.Zero(t, heldRuns(tr))
}

// heldRuns returns the number of runs whose spans are buffered.
func heldRuns(tr *Traces) (n int) {
	tr.runs.held.Range(func(any, any) bool {
		n++
		return true
	})
	return n
}
