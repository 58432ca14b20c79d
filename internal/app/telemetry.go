package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/telemetry"
)

// exportLimit is the time for the last export to a collector during shutdown. Data that is not exported by then is lost, and no request depends on
// it.
const exportLimit = 3 * time.Second

// observe sets up metrics and traces. If traces are on, log lines contain their trace's id.
func (a *App) observe(ctx context.Context, c Config) (err error) {
	o := telemetry.Options{Version: version, Commit: commit, Log: a.Log, NoScrape: c.Metrics == metricsOff}
	if a.metrics, err = telemetry.New(ctx, o); err != nil {
		return err
	}
	if a.traces, err = telemetry.NewTraces(ctx, o, a.metrics); err != nil || a.traces == nil {
		return err
	}
	a.Log = slog.New(telemetry.LogHandler(a.Log.Handler()))
	return nil
}

// unobserve exports the remaining data. It exports traces first, because metrics count trace exports.
func (a *App) unobserve(ctx context.Context) {
	ctx, done := context.WithTimeout(ctx, exportLimit)
	defer done()
	if a.traces != nil {
		if err := a.traces.Shutdown(ctx); err != nil {
			a.Log.WarnContext(ctx, "cannot export the last traces", "error", err)
		}
	}
	if a.metrics != nil {
		if err := a.metrics.Shutdown(ctx); err != nil {
			a.Log.WarnContext(ctx, "cannot export the last metrics", "error", err)
		}
	}
}

// The functions below return the tracers for three packages. Without traces, they return a nil interface: an interface that contains a nil pointer
// would not be equal to nil.

func (a *App) requestTracer() api.Tracer {
	if a.traces == nil {
		return nil
	}
	return a.traces
}

func (a *App) claimTracer() usecase.Tracer {
	if a.traces == nil {
		return nil
	}
	return a.traces
}

func (a *App) statementTracer() crdb.Tracer {
	if a.traces == nil {
		return nil
	}
	return a.traces
}
