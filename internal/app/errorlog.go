package app

import (
	"context"
	"log/slog"
	"sync/atomic"

	"golang.org/x/time/rate"
)

// Rate of log lines from net/http about connections, such as a failed TLS handshake: linesPerSecond in the long run, with bursts of linesAtOnce.
const (
	linesPerSecond = 1
	linesAtOnce    = 20
)

// ofConnections returns the log handler for net/http's connection errors. It limits the rate, so that a client cannot fill the disk with log lines.
func ofConnections(to slog.Handler) slog.Handler {
	return &throttled{Handler: to, lines: rate.NewLimiter(linesPerSecond, linesAtOnce), left: &atomic.Int64{}}
}

// throttled drops lines beyond a rate, and adds the number of dropped lines to the next line.
type throttled struct {
	slog.Handler
	lines *rate.Limiter
	left  *atomic.Int64
}

// Handle implements slog.Handler.
func (s *throttled) Handle(ctx context.Context, r slog.Record) error {
	if !s.lines.Allow() {
		s.left.Add(1)
		return nil
	}
	if n := s.left.Swap(0); n > 0 {
		r.AddAttrs(slog.Int64("leftOut", n))
	}
	return s.Handler.Handle(ctx, r)
}
