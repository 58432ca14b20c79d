package outcome

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// MaxAttempts bounds an operation's attempts.
const MaxAttempts = 30

// Bounds for the pauses between attempts, with full jitter: a pause is uniform in [0, min(maxPause, basePause·2ⁿ)], within the caller's deadline.
const (
	basePause = 2 * time.Millisecond
	maxPause  = 250 * time.Millisecond
	slowPause = 100 * time.Millisecond // first pause when the database is unreachable or lacks resources
)

// Pause waits before the next attempt. It returns false if the caller's deadline would pass.
func Pause(ctx context.Context, n int, end Ending) bool {
	limit := min(maxPause, basePause<<min(n, 10))
	if end == RetrySlowly {
		limit = max(limit, slowPause)
	}
	d := time.Duration(rand.Int64N(int64(limit) + 1)) //nolint:gosec // jitter, not a secret
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < d {
		return false
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// GaveUp returns the caller's error after the last attempt. Nothing was changed.
func GaveUp(ctx context.Context, end Ending, cause error) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.Is(ctx.Err(), context.Canceled):
		return Deadline(cause)
	case end == RetrySlowly:
		e := ipam.Errorf(ipam.CodeUnavailable, "%s Nothing was changed; repeat the request.", whyNot(cause)).Because(cause)
		e.RetryAfter = time.Second
		return e
	default:
		e := ipam.Errorf(ipam.CodeContention, "Too many requests changed the same thing at once. Nothing was changed; repeat the request.").Because(cause)
		e.RetryAfter = time.Second
		return e
	}
}

// Deadline returns the error for a deadline that passed before any change.
func Deadline(cause error) error {
	return ipam.Errorf(ipam.CodeDeadline, "The request reached its deadline. Nothing was changed; repeat the request.").Because(cause)
}
