package api_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carve-ipam/carve/internal/api"
	"github.com/carve-ipam/carve/internal/api/auth"
	"github.com/carve-ipam/carve/internal/api/limits"
	"github.com/carve-ipam/carve/internal/ratelimit"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// bouncer accepts callers by token, each with the role provider in team-a. It has a cache of callers, like the real authenticators. For a caller that
// is not in the cache, it reserves an attempt before the look-up.
type bouncer struct {
	known   map[string]bool // by token; true: the caller is in the cache
	lookups atomic.Int64
}

func (b *bouncer) Authenticate(ctx context.Context, token string) (tenancy.Principal, error) {
	seen, exists := b.known[token]
	if !seen {
		if err := tenancy.AttemptsOf(ctx).Reserve(); err != nil {
			return tenancy.Principal{}, err
		}
		b.lookups.Add(1)
	}
	if !exists {
		return tenancy.Principal{}, tenancy.NotValid("is unknown")
	}
	b.known[token] = true
	return tenancy.Principal{Subject: token, Method: "api-key", Roles: map[string]tenancy.Role{"team-a": tenancy.Provider}}, nil
}

// watch is a clock that only the test moves.
type watch struct{ at atomic.Int64 }

func (w *watch) now() time.Time        { return time.Unix(1_800_000_000, w.at.Load()) }
func (w *watch) pass(by time.Duration) { w.at.Add(int64(by)) }

// limited is a server with limits of 3 reads, 2 writes and 2 authentication attempts a second. It knows the callers alice and bob.
type limited struct {
	service
	*watch
	door *bouncer
	logs *bytes.Buffer
}

func limit(t *testing.T, use api.UseCases) limited {
	t.Helper()
	l := limited{watch: &watch{}, door: &bouncer{known: map[string]bool{"alice": false, "bob": false}}, logs: &bytes.Buffer{}}
	o := ratelimit.Options{Clock: l.now}
	l.service = serve(t, api.Config{
		Service: use, Authenticator: auth.Combined{OIDC: l.door},
		Log: slog.New(slog.NewJSONHandler(l.logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Limits: limits.Limits{
			Reads: ratelimit.New("reads", 3, o), Writes: ratelimit.New("writes", 2, o), Anonymous: ratelimit.New("anonymous", 2, o),
			Refusals: ratelimit.New("refusals", 1, o),
		},
	})
	return l
}

// ask sends a request as the caller who, from a client address.
func (l limited) ask(t *testing.T, who, from, method, path string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)
	r.RemoteAddr = from + ":4711"
	if who != "" {
		r.Header.Set("Authorization", "Bearer "+who)
	}
	return l.send(t, r)
}

// here and there are two client addresses.
const here, there = "192.0.2.1", "192.0.2.2"

// limitedDev returns a server with the same limits, in development mode.
func limitedDev(t *testing.T, l limited) service {
	t.Helper()
	o := ratelimit.Options{Clock: l.now}
	return serve(t, api.Config{Service: script(), Authenticator: auth.Combined{Dev: auth.Dev{}}, Limits: limits.Limits{
		Reads: ratelimit.New("reads", 3, o), Writes: ratelimit.New("writes", 2, o), Anonymous: ratelimit.New("anonymous", 2, o),
	}})
}
