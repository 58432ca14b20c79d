package telemetry

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Load is how much there is to do, and what was refused because it was too much.
type Load struct {
	InFlight    int64            // requests that are worked on
	MaxInFlight int64            // that can be; 0: there is no bound
	Waiting     int64            // claims and releases that wait for their pool's turn
	Longest     int64            // that wait for the same pool, the one for which most wait
	Shed        map[string]int64 // requests that were refused since the start, by what there was too much of
}

// labelReason is what there was too much of.
const labelReason = attribute.Key("reason")

// WatchLoad asks for the load whenever the metrics are read. Call it once.
func (m *Metrics) WatchLoad(read func() Load) error {
	var errs [6]error
	gauge := func(i int, name, text string) metric.Int64ObservableGauge {
		g, err := m.meter.Int64ObservableGauge(name, metric.WithDescription(text))
		errs[i] = err
		return g
	}
	inFlight := gauge(0, "carve.requests.in_flight", "Requests that are worked on.")
	limit := gauge(1, "carve.requests.in_flight.max", "Requests that can be worked on at once; 0 without a bound.")
	waiting := gauge(2, "carve.queue.waiting", "Claims and releases that wait for their pool's turn.")
	longest := gauge(3, "carve.queue.longest", "Claims and releases that wait for the same pool, the one for which most wait.")
	shed, err := m.meter.Int64ObservableCounter("carve.requests.shed",
		metric.WithDescription("Requests that were refused because there was too much to do, by what there was too much of."))
	errs[4] = err
	_, errs[5] = m.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		now := read()
		o.ObserveInt64(inFlight, now.InFlight)
		o.ObserveInt64(limit, now.MaxInFlight)
		o.ObserveInt64(waiting, now.Waiting)
		o.ObserveInt64(longest, now.Longest)
		for reason, n := range now.Shed {
			o.ObserveInt64(shed, n, metric.WithAttributes(labelReason.String(reason)))
		}
		return nil
	}, inFlight, limit, waiting, longest, shed)
	if err := errors.Join(errs[:]...); err != nil {
		return fmt.Errorf("cannot watch the load: %w", err)
	}
	return nil
}
