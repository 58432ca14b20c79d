package telemetry

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// instruments are the instruments that events update.
type instruments struct {
	claims   metric.Int64Counter
	groups   metric.Int64Histogram
	attempts metric.Int64Counter
	requests metric.Float64Histogram
	loans    metric.Int64Counter
	ended    metric.Int64Counter
	held     metric.Int64Counter
	tried    metric.Int64Counter
	gaveUp   metric.Int64Counter
	runs     metric.Int64Counter
	jobTimes metric.Float64Histogram
	exports  metric.Int64Counter
}

// Histogram buckets. Requests have the buckets from OpenTelemetry's conventions and two smaller ones, because a claim takes milliseconds. A group has
// at most 64 members. Most job runs take milliseconds, but with a large backlog a run takes up to a minute.
var (
	requestBuckets = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10}
	groupBuckets   = []float64{1, 2, 4, 8, 16, 32, 64}
	jobBuckets     = []float64{0.001, 0.01, 0.1, 0.5, 1, 5, 15, 60}
)

// observed describes an instrument that each scrape reads by a callback. N is the type of its values.
type observed[N int64 | float64] struct {
	build func(metric.Meter) (metric.Observable, error)
}

func (o *observed[N]) create(m metric.Meter) (metric.Observable, error) { return o.build(m) }

// creator is an observed instrument with values of any type.
type creator interface {
	create(m metric.Meter) (metric.Observable, error)
}

// The kinds. A gauge, a count and a level have integer values. The values of a level may be added up over all servers. A figure is a float gauge, and
// a sum is a float counter.
var (
	gauge  = kindOf[int64](metric.Meter.Int64ObservableGauge)
	count  = kindOf[int64](metric.Meter.Int64ObservableCounter)
	level  = kindOf[int64](metric.Meter.Int64ObservableUpDownCounter)
	figure = kindOf[float64](metric.Meter.Float64ObservableGauge)
	sum    = kindOf[float64](metric.Meter.Float64ObservableCounter)
)

// kindOf returns the constructor for one kind. P is the type of its options; every such type accepts a unit and a description.
func kindOf[N int64 | float64, P any, O metric.Observable](create func(metric.Meter, string, ...P) (O, error)) func(name, unit, text string) *observed[N] {
	return func(name, unit, text string) *observed[N] {
		return &observed[N]{func(m metric.Meter) (metric.Observable, error) {
			return create(m, name, any(metric.WithUnit(unit)).(P), any(metric.WithDescription(text)).(P)) //nolint:errcheck // see kindOf
		}}
	}
}

// collection passes instruments' values to one scrape or export.
type collection struct {
	to   metric.Observer
	made map[creator]metric.Observable
}

// put sets a value with its labels, for an instrument that watch has created.
func put[N int64 | float64](s collection, instrument *observed[N], value N, labels ...attribute.KeyValue) {
	options := metric.WithAttributes(labels...)
	switch to := s.made[instrument].(type) {
	case metric.Int64Observable:
		s.to.ObserveInt64(to, int64(value), options)
	case metric.Float64Observable:
		s.to.ObserveFloat64(to, float64(value), options)
	}
}

// watch creates instruments, and registers a callback that each collection calls to read their values.
func (m *Metrics) watch(what string, read func(s collection), instruments ...creator) error {
	made := map[creator]metric.Observable{}
	var all []metric.Observable
	var errs []error
	for _, of := range instruments {
		one, err := of.create(m.meter)
		made[of], all, errs = one, append(all, one), append(errs, err)
	}
	_, err := m.meter.RegisterCallback(func(_ context.Context, to metric.Observer) error {
		read(collection{to, made})
		return nil
	}, all...)
	if err := errors.Join(append(errs, err)...); err != nil {
		return fmt.Errorf("cannot watch %s: %w", what, err)
	}
	return nil
}

// newInstruments creates the instruments that events update.
func newInstruments(meter metric.Meter) (instruments, error) {
	var errs []error
	counter := func(a description) metric.Int64Counter {
		v, err := meter.Int64Counter(a.name, metric.WithUnit(a.unit), metric.WithDescription(a.text))
		errs = append(errs, err)
		return v
	}
	histogram := func(a description, buckets []float64) metric.Float64Histogram {
		v, err := meter.Float64Histogram(a.name, metric.WithUnit(a.unit), metric.WithDescription(a.text), metric.WithExplicitBucketBoundaries(buckets...))
		errs = append(errs, err)
		return v
	}
	groups, err := meter.Int64Histogram(ofGroups.name, metric.WithDescription(ofGroups.text), metric.WithExplicitBucketBoundaries(groupBuckets...))
	i := instruments{
		claims: counter(ofClaims), groups: groups, attempts: counter(ofAttempts), requests: histogram(ofRequests, requestBuckets), loans: counter(ofLoans),
		ended: counter(ofEnded), held: counter(ofHeld), tried: counter(ofTried), gaveUp: counter(ofGaveUp), runs: counter(ofRuns),
		jobTimes: histogram(ofJobTimes, jobBuckets), exports: counter(ofExports),
	}
	return i, errors.Join(append(errs, err)...)
}

// add counts n events with the same labels.
func add(ctx context.Context, to metric.Int64Counter, n int64, labels ...attribute.KeyValue) {
	to.Add(ctx, n, metric.WithAttributeSet(attribute.NewSet(labels...)))
}
