package telemetry

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"golang.org/x/time/rate"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Trace exporters.
const (
	byOTLP    = "otlp"
	toConsole = "console"
	nowhere   = "none"
)

// tellEvery is the shortest interval between two log records about failed exports.
const tellEvery = 30 * time.Second

// Trace exports spans if OpenTelemetry's environment variables name an exporter. Otherwise the process creates no spans. Call the returned function
// at the end, because it sends the remaining spans.
func Trace(ctx context.Context, version string, env func(string) string, console io.Writer, log *slog.Logger) (end func(context.Context) error, err error) {
	end = func(context.Context) error { return nil }
	ways, err := exporters(env)
	if err != nil || len(ways) == 0 {
		return end, err
	}
	about, err := resource.New(ctx, resource.WithAttributes(semconv.ServiceName("carve-controller"), semconv.ServiceVersion(version)),
		resource.WithFromEnv(), resource.WithTelemetrySDK())
	if err != nil {
		return end, fmt.Errorf("cannot describe the source of the traces: %w", err)
	}
	options := []sdktrace.TracerProviderOption{sdktrace.WithResource(about)}
	for _, way := range ways {
		var to sdktrace.SpanExporter
		if way == toConsole {
			to, err = stdouttrace.New(stdouttrace.WithWriter(console))
		} else {
			to, err = otlptracehttp.New(ctx)
		}
		if err != nil {
			return end, fmt.Errorf("cannot set up the export of traces (%s): %w", way, err)
		}
		options = append(options, sdktrace.WithBatcher(to))
	}
	said := rate.Sometimes{Interval: tellEvery}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		said.Do(func() {
			log.WarnContext(ctx, "telemetry could not be exported; the controller goes on without it", "signal", "traces", "error", err)
		})
	}))
	provider := sdktrace.NewTracerProvider(options...)
	otel.SetTracerProvider(provider)
	otel.SetTextMapPropagator(propagation.TraceContext{})
	return provider.Shutdown, nil
}

// exporters returns the exporters of traces. OTEL_TRACES_EXPORTER names them. If it is empty, an endpoint for OTLP selects OTLP, as in the server.
func exporters(env func(string) string) (ways []string, err error) {
	if strings.EqualFold(strings.TrimSpace(env("OTEL_SDK_DISABLED")), "true") {
		return nil, nil
	}
	const which = "OTEL_TRACES_EXPORTER"
	known := []string{byOTLP, toConsole, nowhere}
	for each := range strings.SplitSeq(env(which), ",") {
		switch each = strings.ToLower(strings.TrimSpace(each)); {
		case each == "":
		case !slices.Contains(known, each):
			return nil, fmt.Errorf("%s %q is not one of %s", which, each, strings.Join(known, ", "))
		case each != nowhere:
			ways = append(ways, each)
		}
	}
	if env(which) == "" && (env("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != "") {
		ways = append(ways, byOTLP)
	}
	protocol := env("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")
	if protocol == "" {
		protocol = env("OTEL_EXPORTER_OTLP_PROTOCOL")
	}
	if slices.Contains(ways, byOTLP) && protocol != "" && protocol != "http/protobuf" {
		return nil, fmt.Errorf("OTLP protocol %q is not supported; use http/protobuf, which collectors accept on port 4318", protocol)
	}
	return ways, nil
}

// Traced creates a span for each run of a reconciler, and adds its IDs to the log records. Spans for calls to Carve are its children.
func Traced(name string, r reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		ctx, span := otel.Tracer(scope).Start(ctx, "reconcile "+name)
		defer span.End()
		if at := span.SpanContext(); at.IsValid() {
			span.SetAttributes(attribute.String("k8s.namespace.name", request.Namespace), attribute.String("carve.object", request.Name))
			ctx = ctrl.LoggerInto(ctx, ctrl.LoggerFrom(ctx).WithValues("trace_id", at.TraceID().String(), "span_id", at.SpanID().String()))
		}
		result, err := r.Reconcile(ctx, request)
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
		return result, err
	})
}
