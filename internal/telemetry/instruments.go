package telemetry

import (
	"context"
	"errors"
	"fmt"

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

// Histogram buckets. Requests have the buckets of OpenTelemetry's conventions and two smaller ones, because a claim takes milliseconds. A group has
// at most 64 members. Most runs of jobs take milliseconds, but with a large backlog a run takes up to a minute.
var (
	requestBuckets = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10}
	groupBuckets   = []float64{1, 2, 4, 8, 16, 32, 64}
	jobBuckets     = []float64{0.001, 0.01, 0.1, 0.5, 1, 5, 15, 60}
)

// maker creates instruments and collects the errors.
type maker struct {
	meter metric.Meter
	errs  []error
	all   []metric.Observable // instruments that each scrape reads by a callback
}

func made[T any](m *maker, v T, err error) T {
	m.errs = append(m.errs, err)
	return v
}

func (m *maker) counter(a about) metric.Int64Counter {
	v, err := m.meter.Int64Counter(a.name, metric.WithUnit(a.unit), metric.WithDescription(a.text))
	return made(m, v, err)
}

// gauge creates an integer gauge that a callback reads.
func (m *maker) gauge(a about) metric.Int64ObservableGauge {
	v, err := m.meter.Int64ObservableGauge(a.name, metric.WithUnit(a.unit), metric.WithDescription(a.text))
	m.all = append(m.all, v)
	return made(m, v, err)
}

// figure creates a float gauge that a callback reads.
func (m *maker) figure(a about) metric.Float64ObservableGauge {
	v, err := m.meter.Float64ObservableGauge(a.name, metric.WithUnit(a.unit), metric.WithDescription(a.text))
	m.all = append(m.all, v)
	return made(m, v, err)
}

// count creates an integer counter that a callback reads.
func (m *maker) count(a about) metric.Int64ObservableCounter {
	v, err := m.meter.Int64ObservableCounter(a.name, metric.WithUnit(a.unit), metric.WithDescription(a.text))
	m.all = append(m.all, v)
	return made(m, v, err)
}

// sum creates a float counter that a callback reads.
func (m *maker) sum(a about) metric.Float64ObservableCounter {
	v, err := m.meter.Float64ObservableCounter(a.name, metric.WithUnit(a.unit), metric.WithDescription(a.text))
	m.all = append(m.all, v)
	return made(m, v, err)
}

// level creates an integer gauge that a callback reads. Its values may be added up over all servers.
func (m *maker) level(a about) metric.Int64ObservableUpDownCounter {
	v, err := m.meter.Int64ObservableUpDownCounter(a.name, metric.WithUnit(a.unit), metric.WithDescription(a.text))
	m.all = append(m.all, v)
	return made(m, v, err)
}

// watch registers a callback, which each scrape calls to read the maker's instruments.
func (m *maker) watch(what string, read func(o metric.Observer)) error {
	_, err := m.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		read(o)
		return nil
	}, m.all...)
	if err := errors.Join(append(m.errs, err)...); err != nil {
		return fmt.Errorf("cannot watch %s: %w", what, err)
	}
	return nil
}

func newInstruments(meter metric.Meter) (instruments, error) {
	m := maker{meter: meter}
	histogram := func(a about, buckets []float64) metric.Float64Histogram {
		v, err := meter.Float64Histogram(a.name, metric.WithUnit(a.unit), metric.WithDescription(a.text), metric.WithExplicitBucketBoundaries(buckets...))
		return made(&m, v, err)
	}
	groups, err := meter.Int64Histogram(ofGroups.name, metric.WithDescription(ofGroups.text), metric.WithExplicitBucketBoundaries(groupBuckets...))
	i := instruments{
		claims: m.counter(ofClaims), groups: made(&m, groups, err), attempts: m.counter(ofAttempts), requests: histogram(ofRequests, requestBuckets),
		loans: m.counter(ofLoans), ended: m.counter(ofEnded), held: m.counter(ofHeld), tried: m.counter(ofTried), gaveUp: m.counter(ofGaveUp), runs: m.counter(ofRuns), jobTimes: histogram(ofJobTimes, jobBuckets), exports: m.counter(ofExports),
	}
	return i, errors.Join(m.errs...)
}
