package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// RetryPolicy bounds a call's retries.
//
// A call is retried if it gets no response, a 429, a 503, or a 502 or 504 from a proxy. The request must be one that the server may carry out twice:
// GET; a POST with an Idempotency-Key; a PUT without a precondition; a DELETE with an ETag in If-Match; a PATCH with If-Match: *; every dry run.
// Other requests, except a POST, are retried as long as no attempt can have been carried out. A retried DELETE that gets not_found succeeds.
type RetryPolicy struct {
	// Attempts is the highest number of attempts, including the first. 1 means no retry.
	Attempts int
	// FirstPause is the pause after the first attempt, minus a random part of up to a half. Each pause is four times the one before.
	FirstPause time.Duration
	// LongestPause bounds a pause. The client waits as long as Retry-After asks, but gives up if that is longer than LongestPause.
	LongestPause time.Duration
	// AttemptTimeout bounds one attempt, so that the client retries when a server hangs. 0 means no bound.
	AttemptTimeout time.Duration
	// OnRepeat, if set, is called before each pause.
	OnRepeat func(Repeat)
	// Pause waits. If it is nil, a timer waits.
	Pause func(ctx context.Context, d time.Duration) error
}

// pauseGrowth is the factor from one pause to the next.
const pauseGrowth = 4

// Repeat describes an attempt that will be retried.
type Repeat struct {
	Request *http.Request
	Reason  string        // for example "the connection was lost"
	Attempt int           // number of the attempt that failed, from 1
	Pause   time.Duration // time until the next attempt
}

// DefaultRetry makes five attempts. Its pauses add up to 7 s to 14 s, so a call outlasts a server that restarts and refuses connections meanwhile.
// AttemptTimeout is longer than the server's own deadline for a request.
func DefaultRetry() RetryPolicy {
	return RetryPolicy{Attempts: 5, FirstPause: 200 * time.Millisecond, LongestPause: 10 * time.Second, AttemptTimeout: 15 * time.Second}
}

func (p RetryPolicy) check() error {
	if p.Attempts < 1 || p.FirstPause < 0 || p.LongestPause < 0 || p.AttemptTimeout < 0 {
		return errors.New("client: a RetryPolicy needs at least one attempt, and no negative times")
	}
	return nil
}

// pause returns the time to wait after an attempt, and whether the server's Retry-After is within LongestPause. Half of the pause is random, so that
// clients that were refused together do not return together. The pause is never shorter than Retry-After.
func (p RetryPolicy) pause(attempt int, resp *http.Response) (time.Duration, bool) {
	d := p.FirstPause
	for range attempt - 1 {
		d = min(pauseGrowth*d, p.LongestPause)
	}
	d = min(d, p.LongestPause)
	if half := d / 2; half > 0 {
		d = half + rand.N(half+1) //nolint:gosec // a pause guards nothing
	}
	asked := retryAfter(resp)
	return max(d, asked), asked <= p.LongestPause
}

// wait waits for d or until the context ends.
func (p RetryPolicy) wait(ctx context.Context, d time.Duration) error {
	if p.Pause != nil {
		return p.Pause(ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// retryAfter returns the wait that a response asks for. Carve sends seconds; a proxy may send a date.
func retryAfter(resp *http.Response) time.Duration {
	if resp == nil {
		return 0
	}
	value := resp.Header.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil {
		return max(0, time.Duration(seconds)*time.Second)
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// timeFor reports whether the call's deadline is later than the end of a pause. If not, the response at hand is better than none.
func timeFor(ctx context.Context, pause time.Duration) bool {
	deadline, bounded := ctx.Deadline()
	return !bounded || time.Until(deadline) > pause
}
