package app

import (
	"context"
	"log/slog"
	"sync/atomic"

	"golang.org/x/time/rate"
)

// Limits on net/http's log lines about connections, such as a failed TLS handshake. linesPerSecond applies in the long run, and linesAtOnce limits a
// burst.
const (
	linesPerSecond = 1
	linesAtOnce    = 20
)

// ofConnections returns the log handler for net/http's errors about connections. It limits their rate, so that a client cannot fill the disk with log
// lines.
func ofConnections(to slog.Handler) slog.Handler {
	return &throttled{Handler: to, lines: rate.NewLimiter(linesPerSecond, linesAtOnce), left: &atomic.Int64{}}
}

// throttled drops log lines beyond a rate. The next line that it writes contains the number of dropped lines.
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
