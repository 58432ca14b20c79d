package telemetry

import (
	"errors"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/semconv/v1.43.0/httpconv"
)

// instruments are what all measurements go into.
type instruments struct {
	claims   metric.Int64Counter
	groups   metric.Int64Histogram
	attempts metric.Int64Counter
	requests metric.Float64Histogram
}

// The buckets. Those of requests are the ones that the conventions advise and two below them: a claim takes milliseconds. A group has
// at most 64 members.
var (
	requestBuckets = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10}
	groupBuckets   = []float64{1, 2, 4, 8, 16, 32, 64}
)

func newInstruments(meter metric.Meter) (i instruments, err error) {
	var errs [4]error
	i.claims, errs[0] = meter.Int64Counter("carve.claims",
		metric.WithDescription("Claims that were asked for, by the class that served or refused them and by what came of it: bound, or the code of the refusal."))
	i.groups, errs[1] = meter.Int64Histogram("carve.group.size", metric.WithExplicitBucketBoundaries(groupBuckets...),
		metric.WithDescription("Claims and releases that one transaction of a pool served."))
	i.attempts, errs[2] = meter.Int64Counter("carve.tx.attempts",
		metric.WithDescription("Attempts at transactions and reads, by how they ended and the SQLSTATE of the failure."))
	name := httpconv.ServerRequestDuration{}
	i.requests, errs[3] = meter.Float64Histogram(name.Name(), metric.WithUnit(name.Unit()), metric.WithDescription(name.Description()),
		metric.WithExplicitBucketBoundaries(requestBuckets...))
	return i, errors.Join(errs[:]...)
}
