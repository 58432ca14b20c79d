package app

import (
	"context"
	"log/slog"
	"sync/atomic"

	"golang.org/x/time/rate"
)

// What net/http says of connections, such as a TLS handshake that failed, at most: a line a second in the long run, and so many at once.
const (
	linesPerSecond = 1
	linesAtOnce    = 20
)

// ofConnections is where net/http tells what was wrong with a connection. Who sends nothing but wrong connections must not fill the disk with lines.
func ofConnections(to slog.Handler) slog.Handler {
	return &seldom{Handler: to, lines: rate.NewLimiter(linesPerSecond, linesAtOnce), left: &atomic.Int64{}}
}

// seldom leaves out lines beyond a rate, and says with the next how many.
type seldom struct {
	slog.Handler
	lines *rate.Limiter
	left  *atomic.Int64
}

// Handle implements slog.Handler.
func (s *seldom) Handle(ctx context.Context, r slog.Record) error {
	if !s.lines.Allow() {
		s.left.Add(1)
		return nil
	}
	if n := s.left.Swap(0); n > 0 {
		r.AddAttrs(slog.Int64("leftOut", n))
	}
	return s.Handler.Handle(ctx, r)
}
