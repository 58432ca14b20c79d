package provider

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"
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
		resp, err := p.next.RoundTrip(req)
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

// wait waits until requests are welcome again, and a little longer, so that not all come back at once.
func (p *patient) wait(ctx context.Context) error {
	p.mu.Lock()
	pause := time.Until(p.until)
	p.mu.Unlock()
	if pause <= 0 {
		return nil
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
