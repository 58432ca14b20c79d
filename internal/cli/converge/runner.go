package converge

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
)

// Runner sends many requests.
type Runner struct {
	*session.Session
	Parallel int // maximum number of concurrent requests

	stopped atomic.Bool // the current Each has failed, so no request is retried
	again   sync.Mutex  // held during retries after a 429, so that only one request retries at a time; each attempt uses up the caller's rate limit
}

// Each calls the function do with the numbers from 0 to n-1. After the first error it starts no other call, waits for the running calls, which retry
// no request, and returns the error.
func (r *Runner) Each(n int, do func(n int) error) error {
	var g errgroup.Group
	g.SetLimit(max(r.Parallel, 1))
	r.stopped.Store(false)
	for i := range n {
		g.Go(func() error {
			if r.stopped.Load() {
				return nil
			}
			err := do(i)
			if err != nil {
				r.stopped.Store(true)
			}
			return err
		})
	}
	return g.Wait()
}

// Patiently sends a request and retries it. If the server is overloaded, it waits as long and as often as the server asks. If the server does not
// respond, it stops after a minute.
func (r *Runner) Patiently(ctx context.Context, send func() (session.Answer, error)) (session.Answer, error) {
	const (
		firstPause   = 250 * time.Millisecond
		longestPause = 5 * time.Second
		patience     = 60 * time.Second
	)
	pause, waited, alone := firstPause, time.Duration(0), false
	defer func() {
		if alone {
			r.again.Unlock()
		}
	}()
	for {
		response, err := send()
		refusal, refused := errors.AsType[*session.Refusal](err)
		busy := refused && refusal.Status == http.StatusTooManyRequests
		if err == nil || ctx.Err() != nil || r.stopped.Load() || exit.CodeOf(err) != exit.Unavailable || !busy && waited >= patience {
			return response, err
		}
		wait := pause
		if busy { // the server responds, and asks for a pause
			pause, waited, wait = firstPause, 0, max(firstPause, refusal.RetryAfter())
			if !alone {
				r.again.Lock()
				alone = true
				if r.stopped.Load() { // meanwhile
					return response, err
				}
			}
		}
		if err := r.Pause(ctx, wait); err != nil {
			return response, err
		}
		waited, pause = waited+wait, min(2*pause, longestPause)
	}
}

// Decided returns the error if the server refused one object. It returns nil for an error that concerns all requests, such as a server that does not
// respond.
func Decided(err error) *session.Refusal {
	refusal, refused := errors.AsType[*session.Refusal](err)
	if !refused || exit.CodeOf(err) == exit.Unavailable || refusal.Status == http.StatusUnauthorized {
		return nil
	}
	return refusal
}
