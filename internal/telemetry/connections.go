package telemetry

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/semconv/v1.43.0/dbconv"
)

// Connections is the state of a pool of connections to the database.
type Connections struct {
	Used  int64 // lent out
	Idle  int64
	Max   int64
	Waits int64 // how often somebody had to wait for one since the start
}

// WatchConnections asks for the state of the pool whenever the metrics are read. Call it once.
func (m *Metrics) WatchConnections(read func() Connections) error {
	var errs [4]error
	count, most := dbconv.ClientConnectionCount{}, dbconv.ClientConnectionMax{}
	open, err := m.meter.Int64ObservableUpDownCounter(count.Name(), metric.WithDescription("Connections to the database, by state: used or idle."))
	errs[0] = err
	limit, err := m.meter.Int64ObservableUpDownCounter(most.Name(), metric.WithDescription("How many connections to the database there may be."))
	errs[1] = err
	waits, err := m.meter.Int64ObservableCounter("carve.db.waits", metric.WithDescription("How often somebody had to wait for a connection to the database."))
	errs[2] = err
	_, errs[3] = m.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		now := read()
		o.ObserveInt64(open, now.Used, metric.WithAttributes(semconv.DBClientConnectionStateUsed))
		o.ObserveInt64(open, now.Idle, metric.WithAttributes(semconv.DBClientConnectionStateIdle))
		o.ObserveInt64(limit, now.Max)
		o.ObserveInt64(waits, now.Waits)
		return nil
	}, open, limit, waits)
	if err := errors.Join(errs[:]...); err != nil {
		return fmt.Errorf("cannot watch the connections: %w", err)
	}
	return nil
}
