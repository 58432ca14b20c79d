package app

import (
	"context"
	"log/slog"
	"sync/atomic"

	"golang.org/x/time/rate"
)

// Limits on net/http's log lines about connections, such as a failed TLS handshake. linesPerSecond limits the average rate, and linesAtOnce limits a
// burst.
const (
	linesPerSecond = 1
	linesAtOnce    = 20
)

// connectionLog returns the log handler for net/http's errors about connections. It limits their rate, so that a client cannot fill the disk with log
// lines.
func connectionLog(next slog.Handler) slog.Handler {
	return &throttled{Handler: next, lines: rate.NewLimiter(linesPerSecond, linesAtOnce), dropped: &atomic.Int64{}}
}

// throttled drops log lines beyond a rate. The next line that it writes contains the number of dropped lines.
type throttled struct {
	slog.Handler
	lines   *rate.Limiter
	dropped *atomic.Int64
}

// Handle implements slog.Handler.
func (s *throttled) Handle(ctx context.Context, r slog.Record) error {
	if !s.lines.Allow() {
		s.dropped.Add(1)
		return nil
	}
	if n := s.dropped.Swap(0); n > 0 {
		r.AddAttrs(slog.Int64("leftOut", n))
	}
	return s.Handler.Handle(ctx, r)
}
