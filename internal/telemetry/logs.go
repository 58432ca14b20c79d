package telemetry

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
)

// LogHandler adds a request's trace id and span id to its log lines. It does not change a line that already has them.
func LogHandler(next slog.Handler) slog.Handler { return traced{next} }

type traced struct{ slog.Handler }

// Handle implements slog.Handler.
func (h traced) Handle(ctx context.Context, line slog.Record) error {
	at := trace.SpanContextFromContext(ctx)
	if !at.IsValid() || hasAttr(line, logTrace) {
		return h.Handler.Handle(ctx, line)
	}
	line = line.Clone()
	line.AddAttrs(slog.String(logTrace, at.TraceID().String()), slog.String(logSpan, at.SpanID().String()))
	return h.Handler.Handle(ctx, line)
}

// WithAttrs implements slog.Handler.
func (h traced) WithAttrs(attrs []slog.Attr) slog.Handler { return traced{h.Handler.WithAttrs(attrs)} }

// WithGroup implements slog.Handler.
func (h traced) WithGroup(name string) slog.Handler { return traced{h.Handler.WithGroup(name)} }

func hasAttr(line slog.Record, key string) (found bool) {
	line.Attrs(func(a slog.Attr) bool {
		found = a.Key == key
		return !found
	})
	return found
}
