package app

import (
	"context"

	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/telemetry"
)

// Who may read the metrics.
const (
	metricsLoopback = "loopback"
	metricsOpen     = "open"
	metricsOff      = "off"
)

// measure sets up what is measured.
func (c Config) measure(ctx context.Context) (*telemetry.Metrics, error) {
	if c.Metrics == metricsOff {
		return telemetry.Off()
	}
	return telemetry.New(ctx, telemetry.Options{Version: version})
}

// attempted passes on how an attempt at a transaction or read ended.
func (a *App) attempted(t crdb.Attempt) {
	a.metrics.AttemptEnded(context.Background(), t.Op, t.End, t.SQLState)
}

// connections is the state of the store's connections, for whoever reads the metrics.
func (a *App) connections() telemetry.Connections {
	return telemetry.Connections(a.store.Connections())
}
