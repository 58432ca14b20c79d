package telemetry

import (
	"bytes"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/carve-ipam/carve/internal/ipam"
)

// quiet returns a log that discards all lines.
func (Options) quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// variables returns an environment with these variables.
func variables(of map[string]string) func(string) string {
	return func(name string) string { return of[name] }
}

func TestExportersFollowTheVariables(t *testing.T) {
	t.Parallel()
	const collector = "http://127.0.0.1:4318"
	for name, c := range map[string]struct {
		env             map[string]string
		traces, metrics []string
	}{
		"Nothing":               {},
		"AnEndpoint":            {map[string]string{otlpEndpoint: collector}, []string{byOTLP}, []string{byOTLP}},
		"AnEndpointOfOne":       {map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": collector}, []string{byOTLP}, nil},
		"NoneDespiteAnEndpoint": {map[string]string{otlpEndpoint: collector, "OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "prometheus"}, nil, nil},
		"BothWays":              {map[string]string{"OTEL_TRACES_EXPORTER": " OTLP, console"}, []string{byOTLP, toConsole}, nil},
		"WithoutAnEndpoint":     {map[string]string{"OTEL_METRICS_EXPORTER": "otlp"}, nil, []string{byOTLP}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := exporters(variables(c.env), traces)
			require.NoError(t, err)
			require.Equal(t, c.traces, got)
			got, err = exporters(variables(c.env), metrics)
			require.NoError(t, err)
			require.Equal(t, c.metrics, got)
		})
	}
}

func TestNoExporterMeansNoTraces(t *testing.T) {
	t.Parallel()
	m, err := Off()
	require.NoError(t, err)
	for _, env := range []map[string]string{
		{}, {"OTEL_TRACES_EXPORTER": "none", otlpEndpoint: "http://127.0.0.1:4318"}, {sdkDisabled: "true", otlpEndpoint: "http://127.0.0.1:4318"},
	} {
		got, err := NewTraces(t.Context(), Options{Env: variables(env)}, m)
		require.NoError(t, err)
		require.Nil(t, got)
	}
}

func TestTracesGoToTheConsole(t *testing.T) {
	t.Parallel()
	m, err := Off()
	require.NoError(t, err)
	var out bytes.Buffer
	got, err := NewTraces(t.Context(), Options{Env: variables(map[string]string{"OTEL_TRACES_EXPORTER": "console"}), Console: &out}, m)
	require.NoError(t, err)
	got.RequestEnded(got.RequestBegan(t.Context(), nil), "GET", "/v1/projects", "listProjects", 200)
	require.NoError(t, got.Shutdown(t.Context()))
	require.Contains(t, out.String(), `"Name":"listProjects"`)
}

func TestInvalidSamplersAreRefused(t *testing.T) {
	t.Parallel()
	for text, good := range map[[2]string]bool{
		{"", ""}: true, {"always_on", ""}: true, {"traceidratio", "0.25"}: true, {"parentbased_traceidratio", ""}: true, {"parentbased_traceidratio", "NaN"}: false,
		{"traceidratio", "25%"}: false, {"traceidratio", "2"}: false, {"jaeger_remote", ""}: false,
	} {
		err := checkSampler(variables(map[string]string{sampler: text[0], samplerArg: text[1]}))
		require.Equal(t, good, err == nil, "%v: %v", text, err)
	}
}

func TestCallersTracesAreContinuedByDefault(t *testing.T) {
	t.Parallel()
	header := map[string][]string{"Traceparent": {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}}
	for text, continued := range map[string]bool{"": true, "tracecontext,baggage": true, "none": false, "baggage": false} {
		accepted, err := acceptsTraces(variables(map[string]string{propagators: text}))
		require.NoError(t, err)
		tr := newTraces(sdktrace.NewTracerProvider(), &runs{}, accepted)
		id, span := tr.IDs(tr.RequestBegan(t.Context(), header))
		require.Equal(t, continued, id == "4bf92f3577b34da6a3ce929d0e0e4736", text)
		require.Len(t, span, 16)
	}
}

func TestUnsampledTracesStoreNothing(t *testing.T) { //nolint:paralleltest // it counts what is allocated meanwhile
	spans := tracetest.NewInMemoryExporter()
	tr := newTraces(sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans), sdktrace.WithSampler(sdktrace.NeverSample())), &runs{}, true)
	ctx := tr.RequestBegan(t.Context(), nil)
	require.False(t, tr.Follows(ctx))
	id, span := tr.IDs(ctx)
	require.Len(t, id, 32, "the log has it all the same")
	require.Len(t, span, 16)
	tr.ClaimDecided(ctx, "team/small", "team/net", 28, "bound")
	group := tr.GroupBegan(ctx, "team/net", nil, nil)
	tr.GroupEnded(group)
	tr.RequestEnded(ctx, "POST", "/", "createClaim", 201)
	require.Empty(t, spans.GetSpans())
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = tr.Follows(ctx) }))
}

func TestLogLinesContainTheTraceID(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(LogHandler(slog.NewTextHandler(&out, nil)))
	ctx := trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}}))
	log.InfoContext(ctx, "one", "a", 1)
	require.Contains(t, out.String(), "a=1 trace_id=01000000000000000000000000000000 span_id=0200000000000000")
	out.Reset()
	log.With("b", 2).InfoContext(ctx, "two", "trace_id", "own")
	require.Contains(t, out.String(), "b=2 trace_id=own\n")
	out.Reset()
	log.InfoContext(t.Context(), "three")
	require.NotContains(t, out.String(), "trace_id")
}

func TestPoolNoLongerAmongTheFullestHasNoSeries(t *testing.T) {
	t.Parallel()
	m, err := New(t.Context(), Options{Env: environment("", "")})
	require.NoError(t, err)
	now := Pools{Fullest: []PoolFigures{{ipam.Ref{Project: "team", Name: "gone"}, 0.5, -1}}}
	require.NoError(t, m.WatchPools("eu", func() Pools { return now }))
	text := scrape(t, m)
	require.Contains(t, text, `carve_pool_utilization_ratio{pool="gone",project="team",region="eu"} 0.5`)
	require.NotContains(t, text, "carve_pool_runway_seconds{", "it is not known")
	now = Pools{Ended: time.Unix(1_700_000_000, 0)}
	text = scrape(t, m)
	require.NotContains(t, text, "gone")
	require.Contains(t, text, "carve_pools_pass_timestamp_seconds 1.7e+09")
	require.NoError(t, m.Shutdown(t.Context()))
}

func TestJobMetricsExistFromTheStart(t *testing.T) {
	t.Parallel()
	m, err := New(t.Context(), Options{Env: environment("", "")})
	require.NoError(t, err)
	start := time.Unix(1_700_000_000, 0)
	jobs, err := m.WatchJobs(map[string]time.Duration{"purge_projects": 10 * time.Second}, start)
	require.NoError(t, err)
	jobs.Ran(t.Context(), "purge_projects", start.Add(time.Minute), time.Second, io.EOF)
	text := scrape(t, m)
	require.Contains(t, text, `carve_job_last_success_timestamp_seconds{task="purge_projects"} 1.7e+09`, "a failure is no success")
	require.Contains(t, text, `carve_job_interval_seconds{task="purge_projects"} 10`)
	jobs.Ran(t.Context(), "purge_projects", start.Add(2*time.Minute), time.Second, nil)
	text = scrape(t, m)
	require.Contains(t, text, `carve_job_last_success_timestamp_seconds{task="purge_projects"} 1.70000012e+09`)
	require.Contains(t, text, `carve_job_runs_total{outcome="failed",task="purge_projects"} 1`)
	require.Contains(t, text, `carve_job_runs_total{outcome="ok",task="purge_projects"} 1`)
	require.NoError(t, m.Shutdown(t.Context()))
}
