package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"golang.org/x/time/rate"
)

// The exported signals, spelled as in OpenTelemetry's environment variables.
const (
	traces  = "TRACES"
	metrics = "METRICS"
)

// The exporters.
const (
	byOTLP    = "otlp"
	toConsole = "console"
	nowhere   = "none"
	byScrape  = "prometheus" // no exporter: --metrics decides whether the server serves /metrics
)

// OpenTelemetry's environment variables that this package reads itself. The SDK reads the variables for exporters, batches (OTEL_EXPORTER_OTLP_*,
// OTEL_BSP_*, OTEL_METRIC_EXPORT_*) and the sampler.
const (
	sdkDisabled  = "OTEL_SDK_DISABLED"
	otlpEndpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	otlpProtocol = "OTEL_EXPORTER_OTLP_PROTOCOL"
	sampler      = "OTEL_TRACES_SAMPLER"
	samplerArg   = "OTEL_TRACES_SAMPLER_ARG"
	propagators  = "OTEL_PROPAGATORS"
)

// disabled reports whether OTEL_SDK_DISABLED is set. The Go SDK itself does not read this variable.
func disabled(env func(string) string) bool {
	return strings.EqualFold(strings.TrimSpace(env(sdkDisabled)), "true")
}

// exporters returns a signal's exporters, which OTEL_<signal>_EXPORTER lists. If the variable is not set, but an OTLP endpoint is, the exporter is
// OTLP. OpenTelemetry's own default is OTLP to this machine, where usually no collector listens, so exporters does not use it.
func exporters(env func(string) string, signal string) ([]string, error) {
	name := "OTEL_" + signal + "_EXPORTER"
	known := []string{byOTLP, toConsole, nowhere}
	if signal == metrics {
		known = append(known, byScrape)
	}
	var out []string
	for choice := range strings.SplitSeq(env(name), ",") {
		switch choice = strings.ToLower(strings.TrimSpace(choice)); {
		case choice == "":
		case !slices.Contains(known, choice):
			return nil, fmt.Errorf("%s %q is not one of %s", name, choice, strings.Join(known, ", "))
		case choice != nowhere && choice != byScrape:
			out = append(out, choice)
		}
	}
	if env(name) == "" && (env(otlpEndpoint) != "" || env("OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT") != "") {
		out = append(out, byOTLP)
	}
	if slices.Contains(out, byOTLP) {
		return out, checkProtocol(env, signal)
	}
	return out, nil
}

// checkProtocol returns an error for an OTLP protocol that is not built in. gRPC would add a second HTTP stack, and every collector accepts HTTP.
func checkProtocol(env func(string) string, signal string) error {
	name := "OTEL_EXPORTER_OTLP_" + signal + "_PROTOCOL"
	if env(name) == "" {
		name = otlpProtocol
	}
	if p := strings.TrimSpace(env(name)); p != "" && p != "http/protobuf" {
		return fmt.Errorf("%s %q is not supported; use http/protobuf, which collectors accept on port 4318", name, p)
	}
	return nil
}

// checkSampler returns an error for a setting that the SDK would ignore, with only a line on stderr.
func checkSampler(env func(string) string) error {
	known := []string{"always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio"}
	which := strings.ToLower(strings.TrimSpace(env(sampler)))
	if which != "" && !slices.Contains(known, which) {
		return fmt.Errorf("%s %q is not one of %s", sampler, which, strings.Join(known, ", "))
	}
	if arg := strings.TrimSpace(env(samplerArg)); strings.HasSuffix(which, "traceidratio") && arg != "" {
		if part, err := strconv.ParseFloat(arg, 64); err != nil || !(part >= 0 && part <= 1) {
			return fmt.Errorf("%s %q is not a number between 0 and 1", samplerArg, arg)
		}
	}
	return nil
}

// acceptsTraces reports whether the server continues callers' traces.
func acceptsTraces(env func(string) string) (bool, error) {
	text := strings.TrimSpace(env(propagators))
	if text == "" {
		return true, nil
	}
	found := false
	for choice := range strings.SplitSeq(text, ",") {
		switch strings.ToLower(strings.TrimSpace(choice)) {
		case "tracecontext":
			found = true
		case "none", "baggage", "": // callers may send baggage, but nothing in Carve reads it
		default:
			return false, fmt.Errorf("%s %q is not supported; use tracecontext or none", propagators, strings.TrimSpace(choice))
		}
	}
	return found, nil
}

// logEvery is the minimum interval between log lines about failed exports.
const logEvery = 30 * time.Second

// outcomes counts a signal's exported batches by result. It logs failures, but not every failure. A failed export stops neither the exporter nor the
// service.
type outcomes struct {
	signal   string
	log      *slog.Logger
	counts   atomic.Pointer[metric.Int64Counter] // nil until the metrics exist
	failed   atomic.Int64
	logLimit rate.Sometimes
}

func newOutcomes(signal string, log *slog.Logger) *outcomes {
	return &outcomes{signal: strings.ToLower(signal), log: log, logLimit: rate.Sometimes{Interval: logEvery}}
}

func (o *outcomes) note(ctx context.Context, err error) {
	outcome := wentWell
	if err != nil {
		outcome = failed
		so := o.failed.Add(1)
		o.logLimit.Do(func() {
			o.log.LogAttrs(ctx, slog.LevelWarn, "cannot export telemetry; requests continue without it",
				slog.String("signal", o.signal), slog.Int64("failedSoFar", so), slog.String("error", shorten(err.Error())))
		})
	}
	if c := o.counts.Load(); c != nil {
		add(ctx, *c, 1, labelSignal.String(o.signal), labelOutcome.String(outcome))
	}
}

// shorten limits the text that a collector can write into the log.
func shorten(s string) string {
	const limit = 300
	if len(s) > limit {
		return s[:limit] + "…"
	}
	return s
}

// loggedSpans is an exporter that reports its failures to outcomes. It hides them from the SDK, which would print each one.
type loggedSpans struct {
	sdktrace.SpanExporter
	outcomes *outcomes
}

// ExportSpans implements trace.SpanExporter.
func (t loggedSpans) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := t.SpanExporter.ExportSpans(ctx, spans)
	t.outcomes.note(ctx, err)
	return nil
}

// loggedMetrics does the same as loggedSpans, for metrics.
type loggedMetrics struct {
	sdkmetric.Exporter
	outcomes *outcomes
}

// Export implements metric.Exporter.
func (t loggedMetrics) Export(ctx context.Context, all *metricdata.ResourceMetrics) error {
	err := t.Exporter.Export(ctx, all)
	t.outcomes.note(ctx, err)
	return nil
}
