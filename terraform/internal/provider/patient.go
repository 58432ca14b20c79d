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

// patient waits as long as a server asks for that has had too many requests, for all requests at once: what is refused was not carried out.
type patient struct {
	next http.RoundTripper

	mu    sync.Mutex
	until time.Time
}

// RoundTrip sends a request until it is not refused for being one too many, as long as its context lasts.
func (p *patient) RoundTrip(req *http.Request) (*http.Response, error) {
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

// send sends a request once. A write that is on its way is not called off when Terraform is interrupted: what came of it has to be known, or what it made
// would be in no state. Its deadline holds all the same, and so that a server that went silent is asked again, no send takes longer than longestSend.
func (p *patient) send(req *http.Request) (*http.Response, error) {
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
		silence(ctx)
	}
	if err != nil {
		cancel()
		said["error"] = err.Error()
		tflog.Debug(ctx, "Carve did not answer", said)
		return nil, err
	}
	resp.Body = &closing{resp.Body, cancel}
	said["status"], said["request_id"] = resp.StatusCode, resp.Header.Get("X-Request-Id")
	tflog.Debug(ctx, "Carve answered", said)
	return resp, nil
}

// closing is a body whose request ends when it is closed.
type closing struct {
	io.ReadCloser
	end context.CancelFunc
}

// Close implements [io.Closer].
func (c *closing) Close() error {
	defer c.end()
	return c.ReadCloser.Close()
}

// wait waits until requests are welcome again, and a little longer, so that not all come back at once.
func (p *patient) wait(ctx context.Context) error {
	p.mu.Lock()
	pause := time.Until(p.until)
	p.mu.Unlock()
	if pause <= 0 || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(pause + rand.N(200*time.Millisecond)) //nolint:gosec // a pause guards nothing
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
