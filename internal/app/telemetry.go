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

// exportLimit bounds what is still sent to a collector when the server stops. What it does not take within that is lost: nobody's request depends on it.
const exportLimit = 3 * time.Second

// observe sets up what is measured and followed. Once requests are followed the log says which line belongs to which.
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

// unobserve sends what is still to be sent, traces first: that they were sent is measured.
func (a *App) unobserve(ctx context.Context) {
	ctx, done := context.WithTimeout(ctx, exportLimit)
	defer done()
	if a.traces != nil {
		if err := a.traces.Shutdown(ctx); err != nil {
			a.Log.WarnContext(ctx, "the last traces could not be exported", "error", err)
		}
	}
	if a.metrics != nil {
		if err := a.metrics.Shutdown(ctx); err != nil {
			a.Log.WarnContext(ctx, "the last metrics could not be exported", "error", err)
		}
	}
}

// The three that are told of traces. Nobody is told anything when there are none: an interface that holds a nil would be asked.

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
