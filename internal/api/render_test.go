package api_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// answering implements the read of a pool by a function that the test sets.
type answering struct {
	nobody
	getPool func(ctx context.Context) (ipam.Pool, error)
}

func (a answering) GetPool(ctx context.Context, _, _ string, _ usecase.Reading) (ipam.Pool, error) {
	return a.getPool(ctx)
}

func failing(err error) answering {
	return answering{getPool: func(context.Context) (ipam.Pool, error) { return ipam.Pool{}, err }}
}

func TestRefusalsCarryTheirFigures(t *testing.T) {
	t.Parallel()
	wanted, largest, lo, hi := 16, 20, 20, 32
	held, children, listed := int64(3), int64(0), int64(1)
	cooled := time.Date(2026, 3, 5, 10, 30, 0, 0, time.UTC)
	e := ipam.Errorf(ipam.CodeNotFound, "Not there.").At("/spec/poolRef", "names nothing.").WithCause(errors.New("secret"))
	e.Figures = ipam.Figures{
		WantedPrefixLength: &wanted, LargestFreePrefixLength: &largest, AvailableAddresses: "4096", PoolsTried: []string{"a/b"},
		AllowedMin: &lo, AllowedMax: &hi, Claims: &held, ChildPools: &children, ConflictsWith: []string{"a/c"},
		Retained: &listed, Spaces: &children, Fitting: &held,
		Quota: "a/q", Measure: "addresses", Limit: "340282366920938463463374607431768211456", Used: "4000", Requested: "256",
		Class: "platform/standard", MissingRoles: []string{"cluster"}, CoolingDown: "1024", CooledDownAt: cooled, Pools: &listed,
		Steps: []ipam.Step{{Kind: ipam.StepPool, Name: "platform/(hidden)", Outcome: ipam.OutcomeSkipped, Code: ipam.CodePoolExhausted, Detail: "It is full."}},
	}
	w := serve(t, api.Config{Service: failing(fmt.Errorf("wrapped: %w", e))}).do(t, "GET", poolsPath+"/p", "")
	p := problem(t, w, http.StatusNotFound, gen.ProblemCodeNotFound)
	require.Equal(t, gen.Problem{
		Type: "/problems/not_found", Title: "Not found", Status: 404, Detail: "Not there.", Instance: poolsPath + "/p",
		Code: gen.ProblemCodeNotFound, TraceID: p.TraceID, Errors: []gen.ProblemField{{Pointer: "/spec/poolRef", Detail: "names nothing."}},
		WantedPrefixLength: &wanted, LargestFreePrefixLength: &largest, AvailableAddresses: "4096", PoolsTried: []string{"a/b"},
		AllowedPrefixLengths: &gen.PrefixLengthRange{Min: lo, Max: hi}, Claims: &held, ChildPools: &children, ConflictsWith: []string{"a/c"},
		Retained: &listed, Spaces: &children, Fitting: &held,
		Quota: "a/q", Measure: gen.QuotaMeasureAddresses, Limit: "340282366920938463463374607431768211456", Used: "4000", Requested: "256",
		Class: "platform/standard", MissingRoles: []string{"cluster"}, CoolingDownAddresses: "1024", CooledDownAt: &cooled, Pools: &listed,
		Steps: []gen.DecisionStep{{
			Kind: gen.DecisionKindPool, Name: "platform/(hidden)", Outcome: gen.DecisionOutcomeSkipped, Code: gen.ProblemCodePoolExhausted, Detail: "It is full.",
		}},
	}, p)
	require.NotContains(t, w.Body.String(), "secret")
}

func TestRetryableErrorsHaveRetryAfter(t *testing.T) {
	t.Parallel()
	later := ipam.Errorf(ipam.CodeUnavailable, "Not now.")
	later.RetryAfter = 1500 * time.Millisecond
	for want, err := range map[string]*ipam.Error{
		"1": ipam.Errorf(ipam.CodeDeadline, "Too late."),
		"2": later,
		"":  ipam.Errorf(ipam.CodeNotFound, "Not there."),
	} {
		w := serve(t, api.Config{Service: failing(err)}).do(t, "GET", poolsPath+"/p", "")
		require.Equal(t, want, w.Header().Get("Retry-After"), err)
	}
}

func TestUnauthenticatedCallersGetWWWAuthenticate(t *testing.T) {
	t.Parallel()
	w := serve(t, api.Config{Authenticator: strangers{}}).do(t, "GET", poolsPath+"/p", "")
	problem(t, w, http.StatusUnauthorized, gen.ProblemCodeUnauthenticated)
	require.Equal(t, "Bearer", w.Header().Get("WWW-Authenticate"))
	require.Empty(t, w.Header().Get("Carve-Auth"))
}

// strangers accepts no caller.
type strangers struct{}

func (strangers) Authenticate(*http.Request) (tenancy.Principal, error) {
	return tenancy.Principal{}, ipam.Errorf(ipam.CodeUnauthenticated, "This request carries no valid credentials.")
}

func TestFaultsAreLoggedOnceAndHiddenFromTheCaller(t *testing.T) {
	t.Parallel()
	const secret = "password=hunter2"
	cases := []struct {
		promise string
		use     answering
		status  int
		code    gen.ProblemCode
		logged  []string
	}{
		{"AnUnknownError", failing(errors.New(secret)), 500, gen.ProblemCodeInternal, []string{secret}},
		{"AnInternalError", failing(ipam.Errorf(ipam.CodeInternal, "%s", secret)), 500, gen.ProblemCodeInternal, []string{secret}},
		{"ACodeNobodyKnows", failing(ipam.Errorf("made_up", "%s", secret)), 500, gen.ProblemCodeInternal, []string{secret}},
		{"APanic", answering{getPool: func(context.Context) (ipam.Pool, error) { panic(secret) }}, 500, gen.ProblemCodeInternal, []string{secret, "render_test.go"}},
		{"ADatabaseThatIsDown", failing(ipam.Errorf(ipam.CodeUnavailable, "Not now.").WithCause(errors.New(secret))), 503, gen.ProblemCodeUnavailable, []string{secret}},
		{"ADeadline", failing(fmt.Errorf("%s: %w", secret, context.DeadlineExceeded)), 504, gen.ProblemCodeDeadline, []string{secret}},
	}
	for _, c := range cases {
		t.Run(c.promise, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			s := serve(t, api.Config{Service: c.use, Log: slog.New(slog.NewTextHandler(&log, nil))})
			w := s.do(t, "GET", poolsPath+"/p", "", "X-Request-Id", "r-1")
			problem(t, w, c.status, c.code)
			require.NotContains(t, w.Body.String(), secret)
			require.Equal(t, 1, strings.Count(log.String(), "level=ERROR"), log.String())
			require.Contains(t, log.String(), "requestId=r-1")
			for _, part := range c.logged {
				require.Contains(t, log.String(), part)
			}
		})
	}
}

func TestCancelledRequestsAreNotLoggedAsErrors(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := serve(t, api.Config{Service: failing(context.Canceled), Log: slog.New(slog.NewTextHandler(&log, nil))})
	problem(t, s.do(t, "GET", poolsPath+"/p", ""), http.StatusGatewayTimeout, gen.ProblemCodeDeadline)
	require.NotContains(t, log.String(), "level=ERROR")
}

func TestUseCasesReceiveTheCallerAndTheDeadline(t *testing.T) {
	t.Parallel()
	var who tenancy.Principal
	var deadline, known bool
	use := answering{getPool: func(ctx context.Context) (ipam.Pool, error) {
		who, known = tenancy.From(ctx)
		_, deadline = ctx.Deadline()
		return ipam.Pool{}, ipam.Errorf(ipam.CodeNotFound, "Not there.")
	}}
	w := serve(t, api.Config{Service: use}).do(t, "GET", poolsPath+"/p", "")
	problem(t, w, http.StatusNotFound, gen.ProblemCodeNotFound)
	require.True(t, known)
	require.True(t, deadline)
	require.Equal(t, "dev", who.Subject)
	require.True(t, who.PlatformAdmin())
	require.Equal(t, "dev (insecure)", w.Header().Get("Carve-Auth"))
}

func TestRequestTimeoutEndsTheUseCase(t *testing.T) {
	t.Parallel()
	use := answering{getPool: func(ctx context.Context) (ipam.Pool, error) {
		<-ctx.Done()
		return ipam.Pool{}, ctx.Err()
	}}
	w := serve(t, api.Config{Service: use, RequestTimeout: time.Nanosecond}).do(t, "GET", poolsPath+"/p", "")
	problem(t, w, http.StatusGatewayTimeout, gen.ProblemCodeDeadline)
}

func TestRequestIDs(t *testing.T) {
	t.Parallel()
	s := serve(t, api.Config{})
	longest := strings.Repeat("x", 128)
	require.Equal(t, longest, s.do(t, "GET", "/healthz", "", "X-Request-Id", longest).Header().Get("X-Request-Id"))
	for _, bad := range []string{"", "two words", longest + "x", "ü", "line\nend"} {
		got := s.do(t, "GET", "/healthz", "", "X-Request-Id", bad).Header().Get("X-Request-Id")
		require.Len(t, got, 36, "%q", bad)
	}
}

func TestAccessLogContainsNoResourceNames(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	use := failing(ipam.Errorf(ipam.CodeNotFound, "Not there."))
	s := serve(t, api.Config{Service: use, Log: slog.New(slog.NewTextHandler(&log, nil))})
	s.do(t, "GET", "/v1/projects/hush/pools/secret?", "", "Authorization", "Bearer token")
	line := log.String()
	require.Equal(t, 1, strings.Count(line, "\n"))
	for _, part := range []string{"msg=request", "method=GET", "route=/v1/projects/:project/pools/:pool", "status=404", "subject=dev", "requestId=", "duration="} {
		require.Contains(t, line, part)
	}
	for _, part := range []string{"hush", "secret", "token"} {
		require.NotContains(t, line, part)
	}
}
