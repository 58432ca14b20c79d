package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/exporters/stdout/stdoutmetric"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

const (
	serviceName = "carve"
	// meterName names the meter for all instruments and the tracer for all spans.
	meterName = "github.com/carve-ipam/carve"
	// maxSeries limits an instrument's label combinations. All further combinations share one series, whose only label is otel_metric_overflow. So
	// the sum over all series stays correct, and the memory is limited, whatever the labels contain.
	maxSeries = 5000
	// maxScrapes limits the responses that Handler sends at the same time.
	maxScrapes = 4
)

// Metrics records metrics. Make one with New or Off, and call Shutdown at the end. It is safe for concurrent use.
type Metrics struct {
	instruments
	classes  *names
	served   responseAttributes
	meter    metric.Meter
	handler  http.Handler
	measures bool
	shutdown func(context.Context) error
}

// Options configures Metrics and Traces.
type Options struct {
	Version, Commit string                   // this build's version
	Env             func(name string) string // reads an OpenTelemetry environment variable; nil: os.Getenv
	Log             *slog.Logger             // for failed exports; nil: no log
	Console         io.Writer                // output for the exporter `console`; nil: stderr
	NoScrape        bool                     // make no Handler
}

func (o *Options) complete() {
	if o.Env == nil {
		o.Env = os.Getenv
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Console == nil {
		o.Console = os.Stderr
	}
}

// New returns Metrics. If OTEL_SDK_DISABLED is set or nothing reads the metrics, New returns Off's result. OTEL_SERVICE_NAME and
// OTEL_RESOURCE_ATTRIBUTES set the service's name.
func New(ctx context.Context, o Options) (*Metrics, error) {
	o.complete()
	if disabled(o.Env) {
		return Off()
	}
	results := newOutcomes(metrics, o.Log)
	readers, err := o.metricReaders(ctx, results)
	if err != nil {
		return nil, err
	}
	if o.NoScrape && len(readers) == 0 {
		return Off()
	}
	about, err := o.serviceResource(ctx)
	if err != nil {
		return nil, err
	}
	options := []sdk.Option{sdk.WithResource(about), sdk.WithCardinalityLimit(maxSeries)}
	for _, r := range readers {
		options = append(options, sdk.WithReader(r))
	}
	var handler http.Handler
	if !o.NoScrape {
		registry := prometheus.NewRegistry()
		reader, err := exporter.New(exporter.WithRegisterer(registry), exporter.WithoutScopeInfo())
		if err != nil {
			return nil, fmt.Errorf("cannot set up the metrics: %w", err)
		}
		registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
		options = append(options, sdk.WithReader(reader))
		handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{
			MaxRequestsInFlight: maxScrapes, ErrorHandling: promhttp.ContinueOnError, EnableOpenMetrics: true,
		})
	}
	provider := sdk.NewMeterProvider(options...)
	m, err := newMetrics(provider)
	if err == nil {
		err = m.watchBuild(o)
	}
	if err != nil {
		return nil, errors.Join(err, provider.Shutdown(ctx))
	}
	m.shutdown, m.handler, m.measures = provider.Shutdown, handler, true
	results.counts.Store(&m.exports)
	return m, nil
}

// metricReaders returns one reader for each configured exporter.
func (o Options) metricReaders(ctx context.Context, results *outcomes) ([]sdk.Reader, error) {
	ways, err := exporters(o.Env, metrics)
	if err != nil {
		return nil, err
	}
	var out []sdk.Reader
	for _, way := range ways {
		var to sdk.Exporter
		if way == toConsole {
			to, err = stdoutmetric.New(stdoutmetric.WithWriter(o.Console))
		} else {
			to, err = otlpmetrichttp.New(ctx)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot set up the export of metrics (%s): %w", way, err)
		}
		out = append(out, sdk.NewPeriodicReader(loggedMetrics{to, results}))
	}
	return out, nil
}

// serviceResource returns the resource that describes the service in every export.
func (o Options) serviceResource(ctx context.Context) (*resource.Resource, error) {
	about, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(semconv.ServiceName(serviceName), semconv.ServiceVersion(o.Version)), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("cannot read OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	return about, nil
}

// Off returns Metrics that record nothing and have no Handler.
func Off() (*Metrics, error) { return newMetrics(noop.NewMeterProvider()) }

// newMetrics returns Metrics with a provider's instruments.
func newMetrics(provider metric.MeterProvider) (*Metrics, error) {
	meter := provider.Meter(meterName)
	i, err := newInstruments(meter)
	if err != nil {
		return nil, fmt.Errorf("cannot set up the metrics: %w", err)
	}
	return &Metrics{
		instruments: i, classes: newNames(maxClasses), meter: meter,
		shutdown: func(context.Context) error { return nil },
	}, nil
}

// watchBuild registers the metric with this build's version.
func (m *Metrics) watchBuild(o Options) error {
	return m.watch("the build", func(s collection) {
		put(s, ofBuild, 1, labelVersion.String(o.Version), labelCommit.String(o.Commit), labelGo.String(runtime.Version()))
	}, ofBuild)
}

// Handler serves all metrics in Prometheus' text format, or in OpenMetrics with exemplars if a scraper asks for that format. It is nil if the metrics
// are off or NoScrape is set.
func (m *Metrics) Handler() http.Handler { return m.handler }

// Shutdown stops recording and exports the remaining metrics until ctx ends. Later events are not recorded.
func (m *Metrics) Shutdown(ctx context.Context) error { return m.shutdown(ctx) }

// Measures reports whether metrics are recorded.
func (m *Metrics) Measures() bool { return m.measures }
