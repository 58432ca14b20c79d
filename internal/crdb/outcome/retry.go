package outcome

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// MaxAttempts limits the number of attempts at an operation.
const MaxAttempts = 30

// Limits for the pause before the next attempt. The pause is random, so that servers in conflict do not retry at the same time. It has a uniform
// distribution in [0, min(maxPause, basePause·2ⁿ)].
const (
	basePause = 2 * time.Millisecond
	maxPause  = 250 * time.Millisecond
	slowPause = 100 * time.Millisecond // minimum of the upper bound when the database is unreachable or lacks resources
)

// Pause waits before the next attempt. It returns false if the caller's deadline would pass before the next attempt.
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

// GaveUp returns the error for the caller after the last attempt failed. Nothing was changed.
func GaveUp(ctx context.Context, end Ending, cause error) error {
	if ctx.Err() != nil {
		return Deadline(cause)
	}
	e := ipam.Errorf(ipam.CodeContention, "Too many requests changed the same thing at once. Nothing was changed; repeat the request.")
	if end == RetrySlowly {
		e = ipam.Errorf(ipam.CodeUnavailable, "%s Nothing was changed; repeat the request.", unavailableReason(cause))
	}
	e.RetryAfter = time.Second
	return e.WithCause(cause)
}

// Deadline returns the error for a request whose deadline passed before any change.
func Deadline(cause error) error {
	return ipam.Errorf(ipam.CodeDeadline, "The request reached its deadline. Nothing was changed; repeat the request.").WithCause(cause)
}
