package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

const (
	serviceName = "carve"
	// The meter of all instruments.
	meterName = "github.com/carve-ipam/carve"
	// maxSeries bounds the combinations of label values that one instrument keeps. What is beyond counts in one series without labels
	// but otel_metric_overflow: sums over all series stay right, and memory is bounded whatever a label turns out to hold.
	maxSeries = 5000
	// maxScrapes bounds the answers of Handler that are written at once.
	maxScrapes = 4
	// sdkDisabled is OpenTelemetry's own switch; the SDK for Go leaves it to whoever sets it up.
	sdkDisabled = "OTEL_SDK_DISABLED"
)

// Metrics is what is measured. Make one with New or Off, and Shutdown it; it is safe for concurrent use.
type Metrics struct {
	instruments
	classes  *names
	served   answers
	meter    metric.Meter
	handler  http.Handler
	shutdown func(context.Context) error
}

// Options of Metrics.
type Options struct {
	Version string                   // of this build
	Env     func(name string) string // OTEL_SDK_DISABLED; nil: the process's environment
}

// New measures, unless OTEL_SDK_DISABLED says that nothing is to be measured. The service is called what OTEL_SERVICE_NAME and
// OTEL_RESOURCE_ATTRIBUTES say.
func New(ctx context.Context, o Options) (*Metrics, error) {
	if o.Env == nil {
		o.Env = os.Getenv
	}
	if strings.EqualFold(strings.TrimSpace(o.Env(sdkDisabled)), "true") {
		return Off()
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(semconv.ServiceName(serviceName), semconv.ServiceVersion(o.Version)), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("cannot read OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	registry := prometheus.NewRegistry()
	reader, err := exporter.New(exporter.WithRegisterer(registry), exporter.WithoutScopeInfo())
	if err != nil {
		return nil, fmt.Errorf("cannot set up the metrics: %w", err)
	}
	provider := sdk.NewMeterProvider(sdk.WithReader(reader), sdk.WithResource(about), sdk.WithCardinalityLimit(maxSeries))
	m, err := measure(provider)
	if err != nil {
		return nil, errors.Join(err, provider.Shutdown(ctx))
	}
	m.shutdown = provider.Shutdown
	m.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes, ErrorHandling: promhttp.ContinueOnError})
	return m, nil
}

// Off measures nothing and has no Handler.
func Off() (*Metrics, error) { return measure(noop.NewMeterProvider()) }

// measure makes the instruments of a provider.
func measure(provider metric.MeterProvider) (*Metrics, error) {
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

// Handler answers with everything that was measured, in Prometheus' text format; nil when nothing is.
func (m *Metrics) Handler() http.Handler { return m.handler }

// Shutdown ends the measuring. What is told afterwards is lost.
func (m *Metrics) Shutdown(ctx context.Context) error { return m.shutdown(ctx) }
