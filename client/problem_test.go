package client_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/app"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// answering returns a client for a server that runs the test's handler.
func answering(t *testing.T, handler http.HandlerFunc, opts ...client.Option) *client.Carve {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	c, err := client.New(s.URL, append([]client.Option{client.WithRetry(quick())}, opts...)...)
	require.NoError(t, err)
	return c
}

func TestARefusalIsATypedError(t *testing.T) {
	t.Parallel()
	w := setup(t)
	_, err := w.Claim(t.Context(), "team-a", "all", fromProd(16))
	require.NoError(t, err)
	w.lose(0, false)
	_, err = w.Claim(t.Context(), "team-a", "more", fromProd(24))

	require.ErrorIs(t, err, client.ProblemCodePoolExhausted)
	require.NotErrorIs(t, err, client.ProblemCodeNotFound)
	require.True(t, client.IsExhausted(err))
	require.False(t, client.MayBeDone(err))
	require.Len(t, w.requests(), 1, "a full pool is not asked again")
	p, ok := client.AsProblem(err)
	require.True(t, ok)
	require.Equal(t, http.StatusConflict, p.Status)
	require.Equal(t, 24, *p.WantedPrefixLength)
	var call *client.Error
	require.ErrorAs(t, err, &call)
	require.Equal(t, http.MethodPut, call.Method)
	require.Equal(t, "/v1/projects/team-a/claims/more", call.Path)
	require.Equal(t, 1, call.Attempts)
	require.NotEmpty(t, call.RequestID)
	require.Contains(t, err.Error(), p.Detail)

	_, err = w.GetPool(t.Context(), "team-a", "none")
	require.True(t, client.IsNotFound(err))
	_, ok = client.AsProblem(errors.New("something else"))
	require.False(t, ok)
}

func TestEndConsumerReturnsTheNumberOfAttachedClaims(t *testing.T) {
	left := int64(1204)
	carve := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		if left == 0 {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusAccepted)
		_, err := fmt.Fprintf(w, `{"attachedClaims":%d}`, left)
		assert.NoError(t, err)
	})
	for ; left >= 0; left -= 1204 {
		ending, err := carve.EndConsumer(t.Context(), "team-a", "default", "vm-1")
		require.NoError(t, err)
		require.Equal(t, left, ending.AttachedClaims)
	}
}

func TestAStaleRevisionIsAConflict(t *testing.T) {
	t.Parallel()
	w := setup(t)
	stale := `"00000000-0000-4000-8000-000000000000"`
	_, err := w.PatchPool(t.Context(), "team-a", "prod", client.IPPoolPatch(`{"metadata":{"labels":{"env":"prod"}}}`),
		client.PatchPoolParams{IfMatch: &stale})
	require.True(t, client.IsConflict(err), err)
}

// The client recognizes the response of a proxy. It does not treat it as a response of Carve.
func TestResponseOfAProxyIsAForeignError(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{
		"AnErrorPage": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<h1>no</h1>", http.StatusForbidden) },
		"ALoginPage":  func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<h1>log in</h1>")) },
		"AnotherAPI": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusAccepted)
			_, _ = w.Write([]byte("{}"))
		},
		"ARedirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.example/", http.StatusFound)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := answering(t, handler).GetPool(t.Context(), "team-a", "prod")
			require.ErrorIs(t, err, client.ErrForeign)
			_, isProblem := client.AsProblem(err)
			require.False(t, isProblem)
		})
	}
}

func TestUnknownOutcomeNamesTheIdempotencyKey(t *testing.T) {
	t.Parallel()
	c := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(`{"code":"outcome_unknown","status":503,"detail":"Nobody knows."}`))
	})
	_, err := c.CreateClaim(t.Context(), "team-a", client.IPClaimCreate{})
	require.ErrorIs(t, err, client.ProblemCodeOutcomeUnknown)
	require.True(t, client.MayBeDone(err))
	var call *client.Error
	require.ErrorAs(t, err, &call)
	require.Equal(t, 5, call.Attempts)
	require.NotEmpty(t, call.IdempotencyKey)
	require.ErrorContains(t, err, call.IdempotencyKey)
}

func TestRequestIsRetriedUntilTheServerHasRestarted(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	url, stop := serve(t, dsn, "--listen="+again())
	policy := quick()
	policy.OnRepeat = func(r client.Repeat) { // the server is down for the first attempt and up again before the second
		if r.Attempt == 1 {
			serve(t, dsn, "--listen="+url[len("http://"):])
		}
	}
	c, err := client.New(url, client.WithRetry(policy))
	require.NoError(t, err)
	_, err = c.GetVersion(t.Context())
	require.NoError(t, err)
	stop()
	_, err = c.CreateProject(t.Context(), client.ProjectCreate{Metadata: client.CreateMetadata{Name: "team-a"}})
	require.NoError(t, err)
}

func TestRateLimitedRequestIsRetriedAfterRetryAfter(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	a, _ := start(t, dsn, "--auth=keys", "--rate-limit-reads=1")
	key, err := app.Bootstrap(t.Context(), dsn, "local")
	require.NoError(t, err)
	limited := 0
	policy := client.DefaultRetry()
	policy.OnRepeat = func(r client.Repeat) {
		limited++
		require.GreaterOrEqual(t, r.Pause, time.Second, "what Retry-After asks for")
	}
	c, err := client.New("http://"+a.Addr(), client.WithRetry(policy), client.WithAPIKey(key))
	require.NoError(t, err)
	for limited == 0 { // the rate limit allows several requests before it refuses one
		_, err := c.ListProjects(t.Context())
		require.NoError(t, err)
	}
}
