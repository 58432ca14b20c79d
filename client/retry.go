package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// RetryPolicy bounds the repeats of a call.
//
// Repeated is what ended without an answer, and what was answered with 429, 503, or 502 and 504 by something before the
// server, where the request may be carried out twice: GET; a POST with an Idempotency-Key; a PUT without If-Match; a DELETE
// with If-Match; a PATCH with If-Match: *; every dry run. Others are repeated as long as no attempt can have been carried
// out. The not_found of a repeated DELETE is its success.
type RetryPolicy struct {
	// Attempts is how often a call is tried, the first time included. 1 repeats nothing.
	Attempts int
	// FirstPause is the pause after the first attempt, of which up to a half is taken off by chance. Each pause is four times the one before.
	FirstPause time.Duration
	// LongestPause bounds a pause. Retry-After is waited for; who is asked to wait for longer than this gives up.
	LongestPause time.Duration
	// AttemptTimeout bounds one attempt, so that a server that went silent is asked again. 0 is no bound.
	AttemptTimeout time.Duration
	// OnRepeat, if there is one, is told before each pause.
	OnRepeat func(Repeat)
	// Pause waits. Nil waits by the clock.
	Pause func(ctx context.Context, d time.Duration) error
}

// pauseGrowth is how many times the pause before a pause is.
const pauseGrowth = 4

// Repeat is one attempt that is going to be repeated.
type Repeat struct {
	Request *http.Request
	Reason  string        // "the connection was lost"
	Attempt int           // which one failed, from 1
	Pause   time.Duration // until the next
}

// DefaultRetry makes five attempts within a minute. Its pauses are 7 s to 14 s together, so a call waits for a server that restarts and
// refuses connections meanwhile. An attempt has more time than the server's own deadline for a request.
func DefaultRetry() RetryPolicy {
	return RetryPolicy{Attempts: 5, FirstPause: 200 * time.Millisecond, LongestPause: 10 * time.Second, AttemptTimeout: 15 * time.Second}
}

func (p RetryPolicy) check() error {
	if p.Attempts < 1 || p.FirstPause < 0 || p.LongestPause < 0 || p.AttemptTimeout < 0 {
		return errors.New("client: a RetryPolicy needs at least one attempt, and no negative times")
	}
	return nil
}

// pause is how long to wait after an attempt, and whether that is within bounds. Half of it is chance, so that many who were
// refused together do not come back together; never is it less than the server asks for.
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

// wait is the pause itself.
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

// retryAfter is what an answer asks to wait for: seconds, as Carve says, or a date, as something before it may.
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

// timeFor reports whether the call's time outlasts a pause; if not, the answer at hand is better than none.
func timeFor(ctx context.Context, pause time.Duration) bool {
	deadline, bounded := ctx.Deadline()
	return !bounded || time.Until(deadline) > pause
}
