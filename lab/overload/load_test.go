package overload

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/lab/apicall"
)

// pretend returns a server with the given responses. The process whose memory and time it measures is the test's own.
func pretend(t *testing.T, answer http.HandlerFunc) *server {
	t.Helper()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/healthz":
		case "/metrics":
			_, _ = io.WriteString(w, "# a remark\ncarve_requests_shed_total{reason=\"pool\"} 1.5e+01\n")
		default:
			answer(w, r)
		}
	}))
	t.Cleanup(h.Close)
	return &server{
		addr: strings.TrimPrefix(h.URL, "http://"), api: apicall.Caller{URL: h.URL}, pools: 2, pid: os.Getpid(),
		asks: []string{"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: ", "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: "},
	}
}

func short(t *testing.T, args ...string) options {
	t.Helper()
	o, err := parse(append([]string{"-time=1s", "-connections=64", "-patience=60s"}, args...))
	require.NoError(t, err)
	return o
}

func offered(t *testing.T, s *server, o options, rate float64) result {
	t.Helper()
	kept, err := s.keep(t.Context(), o, o.connections)
	defer closeAll(kept)
	require.NoError(t, err)
	r, err := offer(t.Context(), s, o, kept, rate)
	require.NoError(t, err)
	return r
}

func TestRequestsAreCountedByOutcome(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen, names := map[int]int{}, map[string]bool{}
	s := pretend(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		names[string(body)] = true
		status := []int{http.StatusCreated, http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusInternalServerError}[len(names)%4]
		seen[status]++
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(status)
	})
	r := offered(t, s, short(t), 500)
	require.Equal(t, seen[http.StatusCreated], r.Served)
	require.Equal(t, seen[http.StatusServiceUnavailable]+seen[http.StatusTooManyRequests], r.Shed)
	require.Equal(t, seen[http.StatusInternalServerError], r.Errors)
	require.Equal(t, "answered 500", r.AnError)
	require.Len(t, names, r.Served+r.Shed+r.Errors, "each claim has a name of its own")
	require.InDelta(t, r.Offered, r.Served+r.Shed+r.Errors+r.Unsent, 1)
	require.Positive(t, r.Goodput)
	require.Positive(t, r.Memory)
	require.Equal(t, map[string]int{"pool": 0}, r.Reasons, "of this rate alone")
}

func TestRefusalWithoutRetryAfterIsAnError(t *testing.T) {
	t.Parallel()
	s := pretend(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	r, err := hurry(t.Context(), s, short(t), 2, 500*time.Millisecond)
	require.NoError(t, err)
	require.Zero(t, r.Shed)
	require.Positive(t, r.Errors)
}

func TestListCountsAsServedOnlyWith200(t *testing.T) {
	t.Parallel()
	s := pretend(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/a" {
			w.WriteHeader(http.StatusCreated)
		}
	})
	s.reads = true
	r, err := hurry(t.Context(), s, short(t), 2, 500*time.Millisecond)
	require.NoError(t, err)
	require.Positive(t, r.Served)
	require.Positive(t, r.Errors, "of those that are answered as a claim would be")
}

func TestRequestIsNotSentWhenAllConnectionsAreBusy(t *testing.T) {
	t.Parallel()
	s := pretend(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done() // until the client ends the request
	})
	r := offered(t, s, short(t, "-connections=1", "-patience=5s"), 1000)
	require.Equal(t, 1, r.Errors)
	require.Positive(t, r.Unsent)
	require.Zero(t, r.Served)
}

func TestFlagsOutOfRangeAreRefused(t *testing.T) {
	t.Parallel()
	o, err := parse([]string{"-steps=0.5,4"})
	require.NoError(t, err)
	require.Equal(t, []float64{0.5, 4}, o.steps)
	for _, wrong := range []string{"-steps=0", "-steps=x", "-pools=17", "-time=0s", "-connections=0", "rest"} {
		_, err := parse([]string{wrong})
		require.Error(t, err, wrong)
	}
}
