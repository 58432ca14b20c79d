package provider

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-log/tflog"
)

// retryTransport retries requests that the server refused with 429 (too many requests). The server has not carried out such a request. If one request
// is refused, all later requests wait for the time that the server asked for.
type retryTransport struct {
	next http.RoundTripper

	mu    sync.Mutex
	until time.Time
}

// RoundTrip sends a request and repeats it while the server refuses it with 429. It stops when the request's context ends.
func (p *retryTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	for {
		if err := p.wait(req.Context()); err != nil {
			return nil, err
		}
		resp, err := p.send(req)
		if err != nil || resp.StatusCode != http.StatusTooManyRequests || req.Body != nil && req.GetBody == nil {
			return resp, err
		}
		seconds, unread := strconv.Atoi(resp.Header.Get("Retry-After"))
		if unread != nil || time.Duration(seconds)*time.Second > longestPause {
			return resp, err
		}
		_ = resp.Body.Close()
		p.mu.Lock()
		if until := time.Now().Add(time.Duration(seconds) * time.Second); until.After(p.until) {
			p.until = until
		}
		p.mu.Unlock()
		req = req.Clone(req.Context())
		if req.GetBody != nil {
			if req.Body, err = req.GetBody(); err != nil {
				return nil, err
			}
		}
	}
}

// send sends a request once. If the context is canceled, a write continues. Without its outcome, no state would have the object that the write made.
// The context's deadline still applies. A send takes at most longestSend, so that the client retries when a server does not respond.
func (p *retryTransport) send(req *http.Request) (*http.Response, error) {
	ctx, began := req.Context(), time.Now()
	end := began.Add(longestSend)
	if deadline, bounded := ctx.Deadline(); bounded && deadline.Before(end) {
		end = deadline
	}
	if req.Method != http.MethodGet {
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := context.WithDeadline(ctx, end)
	resp, err := p.next.RoundTrip(req.WithContext(ctx))
	said := map[string]any{"method": req.Method, "path": req.URL.Path, "milliseconds": time.Since(began).Milliseconds()}
	if err != nil || resp.StatusCode >= http.StatusInternalServerError {
		countUnclear(ctx)
	}
	if err != nil {
		cancel()
		said["error"] = err.Error()
		tflog.Debug(ctx, "request to Carve failed", said)
		return nil, err
	}
	resp.Body = &closing{resp.Body, cancel}
	said["status"], said["request_id"] = resp.StatusCode, resp.Header.Get("X-Request-Id")
	tflog.Debug(ctx, "Carve responded", said)
	return resp, nil
}

// closing is a response body that releases its request's context when it is closed.
type closing struct {
	io.ReadCloser
	end context.CancelFunc
}

// Close implements [io.Closer].
func (c *closing) Close() error {
	defer c.end()
	return c.ReadCloser.Close()
}

// wait waits until the server accepts requests again. It adds a random time, so that the waiting requests do not all start at once.
func (p *retryTransport) wait(ctx context.Context) error {
	p.mu.Lock()
	pause := time.Until(p.until)
	p.mu.Unlock()
	if pause <= 0 || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return sleep(ctx, pause+rand.N(200*time.Millisecond)) //nolint:gosec // a pause guards nothing
}

// sleep waits for a time. If the context ends earlier, it returns the cause.
func sleep(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
