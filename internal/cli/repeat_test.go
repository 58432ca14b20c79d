package cli_test

import (
	"context"
	"io"
	"log" //nolint:depguard // what net/http takes
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/cli"
)

var claimArgs = []string{"claim", "create", "web-eu", "--pool", "prod-eu", "--prefix-length", "24"}

func TestRetrySendsTheSameRequest(t *testing.T) {
	t.Parallel()
	d := answering(t, cut(), refusal(t, "ProblemContention"), created(example(t, "IPClaim")))
	r := d.done(append(claimArgs, "--request-id", "deploy-42")...)
	require.Len(t, d.requests(), 3)
	for _, s := range d.requests() {
		require.Equal(t, d.requests()[0], s)
		require.NotEmpty(t, s.header.Get("Idempotency-Key"))
		require.Equal(t, "deploy-42", s.header.Get("X-Request-Id"))
		require.Equal(t, "ipamctl/1.2.3", s.header.Get("User-Agent"))
	}
	require.Equal(t, "the connection was lost; trying again (2 of 5)\nthe server responded 503 and asked to wait; trying again (3 of 5)\n", r.err)
}

func TestEveryInvocationUsesANewIdempotencyKey(t *testing.T) {
	t.Parallel()
	d := answering(t, created(example(t, "IPClaim")), created(example(t, "IPClaim")))
	require.Zero(t, d.run(claimArgs...).code)
	require.Zero(t, d.run(claimArgs...).code)
	require.NotEqual(t, d.requests()[0].header.Get("Idempotency-Key"), d.requests()[1].header.Get("Idempotency-Key"))
}

func TestRetriesAreLimitedWithGrowingPauses(t *testing.T) {
	t.Parallel()
	busy := refusal(t, "ProblemUnavailable")
	d := answering(t, busy, busy, busy, busy, busy)
	r := d.run("pool", "get", "prod-eu")
	require.Equal(t, 5, r.code)
	require.Len(t, d.requests(), 5)
	require.Len(t, d.pauses, 4)
	var all time.Duration
	for i, p := range d.pauses {
		full := min(200*time.Millisecond<<(2*i), 10*time.Second)
		require.GreaterOrEqual(t, p, full/2)
		require.LessOrEqual(t, p, full)
		all += p
	}
	require.Greater(t, all, 7*time.Second, "a server that restarts is waited for")
}

func TestRetryPauseFollowsRetryAfterUpToALimit(t *testing.T) {
	t.Parallel()
	limited := refusal(t, "ProblemRateLimited")
	limited.header = map[string]string{"Retry-After": "3"}
	forever := refusal(t, "ProblemUnavailable")
	forever.header = map[string]string{"Retry-After": "3600"}
	d := answering(t, limited, forever)
	r := d.run("pool", "get", "prod-eu")
	require.Equal(t, 5, r.code)
	require.Contains(t, r.err, "3600 s", "who may not come back before long is told so, and does not come back earlier")
	require.Equal(t, []time.Duration{3 * time.Second}, d.pauses)
}

func TestRetryPauseBeyondTheTimeoutIsNotStarted(t *testing.T) {
	t.Parallel()
	later := refusal(t, "ProblemUnavailable")
	later.header = map[string]string{"Retry-After": "9"}
	d := answering(t, later)
	r := d.run("pool", "get", "prod-eu", "--timeout", "5s")
	require.Equal(t, 5, r.code)
	require.Contains(t, r.err, "The database cannot be reached.")
	require.Empty(t, d.pauses)
}

func TestPermanentRefusalIsNotRetried(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ProblemPoolExhausted", "ProblemNotFound", "ProblemInternal", "ProblemInvalidArgument", "ProblemDeadline"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := answering(t, refusal(t, name))
			require.NotZero(t, d.run(claimArgs...).code)
			require.Len(t, d.requests(), 1)
		})
	}
}

func TestUnknownOutcomePrintsTheIdempotencyKey(t *testing.T) {
	t.Parallel()
	unknown := refusal(t, "ProblemOutcomeUnknown")
	for name, script := range map[string][]reply{
		"OutcomeUnknown": {unknown, unknown, unknown, unknown, unknown},
		"CutAgain":       {cut(), cut(), cut(), cut(), cut()},
		"Deadline":       {refusal(t, "ProblemDeadline")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := answering(t, script...)
			r := d.run(claimArgs...)
			require.Equal(t, 5, r.code)
			require.Contains(t, r.err, "--idempotency-key "+d.requests()[0].header.Get("Idempotency-Key"))
		})
	}
	t.Run("NothingWasSent", func(t *testing.T) {
		t.Parallel()
		d := answering(t)
		d.Close()
		require.NotContains(t, d.run(claimArgs...).err, "--idempotency-key")
	})
	t.Run("DryRun", func(t *testing.T) {
		t.Parallel()
		d := answering(t, unknown, unknown, unknown, unknown, unknown)
		require.NotContains(t, d.run(append(claimArgs, "--dry-run")...).err, "--idempotency-key")
	})
}

// never returns a server that does not respond until the caller disconnects.
func never(t *testing.T) (d *double, entered <-chan struct{}) {
	t.Helper()
	in := make(chan struct{}, 1)
	d = answering(t)
	d.Config.Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only after it has read the body can the server notice a disconnect
		in <- struct{}{}
		<-r.Context().Done()
	})
	return d, in
}

func TestRequestEndsAtItsTimeout(t *testing.T) {
	t.Parallel()
	d, _ := never(t)
	r := d.run("pool", "get", "prod-eu", "--timeout", "50ms")
	require.Equal(t, 5, r.code)
	require.Equal(t, "error: no response from "+d.URL+" within 50ms\n", r.err)
}

func TestInterruptEndsARequest(t *testing.T) {
	t.Parallel()
	d, entered := never(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	go func() {
		<-entered
		interrupt()
	}()
	var said strings.Builder
	code := cli.Run(ctx, claimArgs, cli.Environment{
		In: strings.NewReader(""), Out: io.Discard, Err: &said,
		Env: func(name string) (string, bool) { return d.env[name], true },
	})
	require.Equal(t, 5, code)
	require.Contains(t, said.String(), "interrupted before a response from ")
	require.Contains(t, said.String(), "--idempotency-key", "it may have been carried out")
}

func TestTLSFailureIsNotRetried(t *testing.T) {
	t.Parallel()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	plain := answering(t)
	for server, want := range map[string]string{
		secure.URL: "certificate signed by unknown authority",
		strings.Replace(plain.URL, "http:", "https:", 1): "server gave HTTP response to HTTPS client",
	} {
		d := answering(t)
		d.env["CARVE_SERVER"] = server
		r := d.run(claimArgs...)
		require.Equal(t, 5, r.code)
		require.Contains(t, r.err, want)
		require.Equal(t, 1, strings.Count(r.err, "\n"), r.err)
	}
}

func TestPasswordInTheServerURLIsNotPrinted(t *testing.T) {
	t.Parallel()
	d := answering(t)
	d.Close()
	d.env["CARVE_SERVER"] = strings.Replace(d.URL, "http://", "http://me:hunter2@", 1)
	r := d.run("pool", "list")
	require.Equal(t, 5, r.code)
	require.NotContains(t, r.err, "hunter2")
}
