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

// exportLimit limits the last export to a collector during shutdown. The rest is lost: no request depends on it.
const exportLimit = 3 * time.Second

// observe sets up metrics and traces. With traces, log lines contain the ids of their trace.
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

// unobserve exports the remaining data, traces first, because metrics count the trace exports.
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

// The three tracers. Each returns a nil interface without traces: an interface with a nil pointer inside would be called.

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
