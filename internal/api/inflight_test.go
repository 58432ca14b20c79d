package api_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/api"
	"github.com/carve-ipam/carve/internal/api/auth"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/api/limits"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// named accepts each token as the name of the caller.
type named struct{}

func (named) Authenticate(r *http.Request) (tenancy.Principal, error) {
	who := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if who == "" {
		return tenancy.Principal{}, ipam.Errorf(ipam.CodeUnauthenticated, "This request carries no valid credentials.")
	}
	return tenancy.Principal{Subject: who, Method: "oidc", Roles: map[string]tenancy.Role{"team-a": tenancy.Provider}}, nil
}

// crowd is a server in which requests for a pool run until the test ends them.
type crowd struct {
	service
	bound *limits.InFlight
	logs  *bytes.Buffer
	end   chan struct{}
	begun chan struct{}
	wg    sync.WaitGroup
}

func setupInFlight(t *testing.T, limit int, door auth.Authenticator) *crowd {
	t.Helper()
	return setupWaiting(t, limit, 0, door)
}

// setupWaiting returns a crowd in which a request waits for a slot, at most for the duration wait.
func setupWaiting(t *testing.T, limit int, wait time.Duration, door auth.Authenticator) *crowd {
	t.Helper()
	c := &crowd{bound: limits.NewInFlight(limit, wait), logs: &bytes.Buffer{}, end: make(chan struct{}), begun: make(chan struct{})}
	use := answering{getPool: func(context.Context) (ipam.Pool, error) {
		c.begun <- struct{}{}
		<-c.end
		return ipam.Pool{}, ipam.Errorf(ipam.CodeNotFound, "Not there.")
	}}
	c.service = serve(t, api.Config{
		Service: use, Authenticator: door, InFlight: c.bound, Metrics: figures, RequestTimeout: long,
		Log: slog.New(slog.NewTextHandler(c.logs, &slog.HandlerOptions{Level: slog.LevelInfo})),
	})
	return c
}

// hold starts a request of a caller. The request then stays in flight.
func (c *crowd) hold(t *testing.T, who string) {
	t.Helper()
	c.wg.Go(func() {
		r := httptest.NewRequestWithContext(t.Context(), "GET", poolsPath+"/p", http.NoBody)
		if who != "" {
			r.Header.Set("Authorization", "Bearer "+who)
		}
		problem(t, c.send(t, r), http.StatusNotFound, gen.ProblemCodeNotFound)
	})
	<-c.begun
}

// clear ends the requests in flight.
func (c *crowd) clear() {
	close(c.end)
	c.wg.Wait()
}

func TestFullServerRefusesWithRetryAfter(t *testing.T) {
	t.Parallel()
	c := setupInFlight(t, 4, named{})
	for _, who := range []string{"a", "b", "c", "d"} {
		c.hold(t, who)
	}
	require.Equal(t, limits.Load{Now: 4, Max: 4}, c.bound.Load())
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "BREW"} {
		r := httptest.NewRequestWithContext(t.Context(), method, poolsPath+"/p", mustNotRead{t})
		w := c.send(t, r) // the server refuses the request before it authenticates the caller
		require.Equal(t, http.StatusServiceUnavailable, w.Code, method)
		require.Equal(t, "1", w.Header().Get("Retry-After"))
		problem(t, w, http.StatusServiceUnavailable, gen.ProblemCodeUnavailable)
	}
	require.Equal(t, limits.Load{Now: 4, Max: 4, Full: 6}, c.bound.Load())
	require.Equal(t, 1, strings.Count(c.logs.String(), "\n"), "all of them together have one line: %s", c.logs)

	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		require.Equal(t, http.StatusOK, c.do(t, "GET", path, "").Code, path)
	}
	c.clear()
	require.Equal(t, limits.Load{Max: 4, Full: 6}, c.bound.Load())
	require.Equal(t, http.StatusOK, c.do(t, "GET", "/openapi.yaml", "").Code)
}

func TestOneCallerUsesAtMostHalfOfTheSlots(t *testing.T) {
	t.Parallel()
	c := setupInFlight(t, 4, named{})
	c.hold(t, "a")
	c.hold(t, "a")
	for _, written := range []string{"Bearer a", "bearer a", "Bearer   a", "BEARER \ta"} {
		r := httptest.NewRequestWithContext(t.Context(), "POST", poolsPath, mustNotRead{t})
		r.Header.Set("Authorization", written)
		w := c.send(t, r)
		problem(t, w, http.StatusTooManyRequests, gen.ProblemCodeRateLimited)
		require.Equal(t, "1", w.Header().Get("Retry-After"))
	}
	require.Equal(t, limits.Load{Now: 2, Max: 4, Greedy: 4}, c.bound.Load(), "it keeps no place")
	c.hold(t, "b")
	c.clear()
	require.Equal(t, limits.Load{Max: 4, Greedy: 4}, c.bound.Load())
	require.Equal(t, http.StatusNotFound, c.do(t, "GET", "/nowhere", "", "Authorization", "Bearer a").Code)
}

func TestDevelopmentModeSharesAllSlots(t *testing.T) {
	t.Parallel()
	c := setupInFlight(t, 2, auth.Dev{})
	c.hold(t, "")
	c.hold(t, "")
	problem(t, c.do(t, "GET", poolsPath+"/p", ""), http.StatusServiceUnavailable, gen.ProblemCodeUnavailable)
	c.clear()
}

func TestSlotsAreReturnedAfterEveryRequest(t *testing.T) {
	t.Parallel()
	gone, leave := context.WithCancel(t.Context())
	leave()
	waits := answering{getPool: func(ctx context.Context) (ipam.Pool, error) {
		<-ctx.Done()
		return ipam.Pool{}, ctx.Err()
	}}
	for name, tc := range map[string]struct {
		use     answering
		ctx     context.Context //nolint:containedctx // of the request
		timeout time.Duration
		who     string
		status  int // 0: the server closes the connection without a response
	}{
		"Answered":        {use: failing(ipam.Errorf(ipam.CodeNotFound, "Not there.")), who: "a", status: http.StatusNotFound},
		"Panic":           {use: answering{getPool: func(context.Context) (ipam.Pool, error) { panic("lost") }}, who: "a", status: http.StatusInternalServerError},
		"CutOff":          {use: answering{getPool: func(context.Context) (ipam.Pool, error) { panic(http.ErrAbortHandler) }}, who: "a"},
		"Deadline":        {use: waits, timeout: time.Nanosecond, who: "a", status: http.StatusGatewayTimeout},
		"ClientGone":      {use: waits, ctx: gone, who: "a", status: http.StatusGatewayTimeout},
		"Unauthenticated": {use: failing(nil), status: http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bound := limits.NewInFlight(1, 0)
			s := serve(t, api.Config{Service: tc.use, Authenticator: named{}, InFlight: bound, RequestTimeout: tc.timeout})
			ctx := t.Context()
			if tc.ctx != nil {
				ctx = tc.ctx
			}
			for range 3 { // each of the three requests must take the only slot and return it
				r := httptest.NewRequestWithContext(ctx, "GET", poolsPath+"/p", http.NoBody)
				r.Header.Set("Authorization", "Bearer "+tc.who)
				if tc.status == 0 {
					require.PanicsWithValue(t, http.ErrAbortHandler, func() { s.send(t, r) })
				} else {
					require.Equal(t, tc.status, s.send(t, r).Code)
				}
				require.Equal(t, limits.Load{Max: 1}, bound.Load())
			}
		})
	}
}

// long is longer than any test runs.
const long = time.Hour

// waits returns when n requests are waiting for a slot.
func (c *crowd) waits(t *testing.T, n int64) {
	t.Helper()
	require.Eventually(t, func() bool { return c.bound.Load().Waiting == n }, time.Minute, time.Millisecond)
}

func TestWaitingRequestGetsAReturnedSlot(t *testing.T) {
	t.Parallel()
	c := setupWaiting(t, 2, long, named{})
	c.hold(t, "a")
	c.hold(t, "b")
	next := make(chan int, 1)
	c.wg.Go(func() { next <- c.do(t, "GET", poolsPath+"/p", "", "Authorization", "Bearer d").Code })
	c.waits(t, 1)
	c.end <- struct{}{} // one of the two running requests ends
	<-c.begun
	c.clear()
	require.Equal(t, http.StatusNotFound, <-next)
	require.Equal(t, limits.Load{Max: 2}, c.bound.Load())
}

func TestCancelledRequestStopsWaiting(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		held []string
		load limits.Load
	}{
		"ForAPlace":   {[]string{"a", "b", "c", "d"}, limits.Load{Now: 4, Max: 4, Full: 1}},
		"ToBeRefused": {[]string{"x", "x"}, limits.Load{Now: 2, Max: 4, Greedy: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := setupWaiting(t, 4, long, named{})
			for _, who := range tc.held {
				c.hold(t, who)
			}
			ctx, leave := context.WithCancel(t.Context())
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				r := httptest.NewRequestWithContext(ctx, "GET", poolsPath+"/p", http.NoBody)
				r.Header.Set("Authorization", "Bearer x")
				c.handler.ServeHTTP(httptest.NewRecorder(), r)
			}()
			c.waits(t, 1)
			leave()
			<-gone
			require.Equal(t, tc.load, c.bound.Load())
			c.clear()
		})
	}
}

func TestWaitForASlotTimesOut(t *testing.T) {
	t.Parallel()
	c := setupWaiting(t, 1, time.Nanosecond, named{})
	c.hold(t, "a")
	problem(t, c.do(t, "GET", poolsPath+"/p", "", "Authorization", "Bearer b"), http.StatusServiceUnavailable, gen.ProblemCodeUnavailable)
	problem(t, c.do(t, "GET", poolsPath+"/p", "", "Authorization", "Bearer a"), http.StatusTooManyRequests, gen.ProblemCodeRateLimited)
	c.clear()
	require.Equal(t, limits.Load{Max: 1, Full: 1, Greedy: 1}, c.bound.Load())
	require.Equal(t, http.StatusNotFound, c.do(t, "GET", "/nowhere", "", "Authorization", "Bearer b").Code, "whoever was refused has its share again")
}

func TestNoLimitRefusesNoRequest(t *testing.T) {
	t.Parallel()
	require.Nil(t, limits.NewInFlight(0, 0))
	require.Zero(t, limits.NewInFlight(0, 0).Load())
	c := setupInFlight(t, 0, named{})
	for range 10 {
		c.hold(t, "a")
	}
	c.clear()
}
