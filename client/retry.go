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
// The client retries a call if it gets no response, a 429, a 503, or a 502 or 504 from a proxy. The server must also be able to carry out the request
// twice without harm. These requests are:
//
//   - GET
//   - POST with an Idempotency-Key
//   - PUT without a precondition
//   - DELETE with an ETag in If-Match
//   - PATCH with If-Match: *
//   - every dry run
//
// The client retries another PUT, DELETE or PATCH only while the server certainly has not carried out any attempt. It never retries another POST. If
// a retried DELETE gets not_found, the call succeeds.
type RetryPolicy struct {
	// Attempts is the highest number of attempts, including the first. 1 means no retry.
	Attempts int
	// FirstPause is the pause after the first attempt. The client subtracts a random part of up to a half. Each pause is four times as long as the
	// pause before it.
	FirstPause time.Duration
	// LongestPause bounds a pause. The client waits for the time in Retry-After. If that time is longer than LongestPause, the client gives up.
	LongestPause time.Duration
	// AttemptTimeout bounds one attempt, so that the client retries when a server does not respond. 0 means no bound.
	AttemptTimeout time.Duration
	// OnRepeat, if set, is called before each pause.
	OnRepeat func(Repeat)
	// Pause waits for d. If it is nil, the client uses a timer.
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

// DefaultRetry makes five attempts. Its pauses add up to between 7 s and 14 s. That time is longer than a server needs to restart, so a call succeeds
// although the server refuses connections during the restart. AttemptTimeout is longer than the server's own deadline for a request.
func DefaultRetry() RetryPolicy {
	return RetryPolicy{Attempts: 5, FirstPause: 200 * time.Millisecond, LongestPause: 10 * time.Second, AttemptTimeout: 15 * time.Second}
}

func (p RetryPolicy) check() error {
	if p.Attempts < 1 || p.FirstPause < 0 || p.LongestPause < 0 || p.AttemptTimeout < 0 {
		return errors.New("client: a RetryPolicy needs at least one attempt, and no negative times")
	}
	return nil
}

// pause returns the time to wait after an attempt. It also reports whether the server's Retry-After is within LongestPause. Half of the pause is
// random, so that clients that the server refused together do not all retry together. The pause is never shorter than Retry-After.
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
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// retryAfter returns the pause that a response asks for. Carve sends seconds. A proxy may send a date.
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

// timeFor reports whether a pause ends before the call's deadline. If it does not, the client returns the response that it has, without another
// attempt.
func timeFor(ctx context.Context, pause time.Duration) bool {
	deadline, bounded := ctx.Deadline()
	return !bounded || time.Until(deadline) > pause
}
