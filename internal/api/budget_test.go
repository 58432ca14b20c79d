package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/api"
	"github.com/carve-ipam/carve/internal/api/auth"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/api/limits"
	"github.com/carve-ipam/carve/internal/ratelimit"
)

// budgeted returns a server with budgets. A caller may spend 200 units at once and 100 a second, and a project may spend half as much again. Three
// keys belong to acme.
func budgeted(t *testing.T) limited {
	t.Helper()
	l := limited{watch: &watch{}, door: &bouncer{known: map[string]bool{}}}
	for _, who := range []string{"key:acme/a", "key:acme/b", "key:acme/c", "key:umbrella/a"} {
		l.door.known[who] = true
	}
	o := ratelimit.Options{Clock: l.now}
	l.service = serve(t, api.Config{Service: script(), Authenticator: auth.Combined{OIDC: l.door}, Limits: limits.Limits{
		Work: ratelimit.New("work", 100, o), Project: ratelimit.New("project-work", 150, o),
	}})
	return l
}

// sent is a body that counts the bytes that the server has read.
type sent struct {
	io.Reader
	read int
}

// Read implements io.Reader.
func (s *sent) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.read += n
	return n, err
}

// claimOfKiB sends a claim with a body of kib KiB. If announced is true, the request has a Content-Length.
func (l limited) claimOfKiB(t *testing.T, who string, kib int, announced bool) (*httptest.ResponseRecorder, *sent) {
	t.Helper()
	head, tail := `{"spec":{"poolRef":{"name":"p"},"prefixLength":28},"metadata":{"name":"c","annotations":{"a":"`, `"}}}`
	body := &sent{Reader: strings.NewReader(head + strings.Repeat("x", kib<<10-len(head)-len(tail)) + tail)}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, claimsPath, body)
	r.Header.Set("Authorization", "Bearer "+who)
	r.Header.Set("Content-Type", "application/json")
	if r.ContentLength = -1; announced {
		r.ContentLength = int64(kib << 10)
	}
	return l.send(t, r), body
}

func TestRequestIsChargedByItsBodyBeforeItIsRead(t *testing.T) {
	t.Parallel()
	for name, announced := range map[string]bool{"Announced": true, "Chunked": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := budgeted(t)
			w, body := l.claimOfKiB(t, "key:acme/a", 3, announced)
			require.Equal(t, http.StatusCreated, w.Code, w.Body)
			require.Equal(t, 3<<10, body.read)
			l.claimOfKiB(t, "key:acme/a", 9, announced) // the server refuses the content, but charges the request
			w, body = l.claimOfKiB(t, "key:acme/a", 9, announced)
			p := problem(t, w, http.StatusTooManyRequests, gen.ProblemCodeRateLimited)
			require.Contains(t, p.Detail, "caller's budget of 200")
			require.Contains(t, w.Header().Get("RateLimit"), `"work";r=`)
			require.NotEmpty(t, w.Header().Get("Retry-After"))
			if announced {
				require.Zero(t, body.read)
			}
			w, _ = l.claimOfKiB(t, "key:umbrella/a", 1, announced)
			require.Equal(t, http.StatusCreated, w.Code, "others have budgets of their own")
			l.pass(2 * time.Second)
			w, _ = l.claimOfKiB(t, "key:acme/a", 3, announced)
			require.Equal(t, http.StatusCreated, w.Code)
		})
	}
}

func TestAllKeysOfAProjectShareOneBudget(t *testing.T) {
	t.Parallel()
	l := budgeted(t)
	for _, who := range []string{"key:acme/a", "key:acme/b"} {
		w, _ := l.claimOfKiB(t, who, 4, true)
		require.Equal(t, http.StatusCreated, w.Code, w.Body)
	}
	for range 3 { // each request costs 60, and 30 for each KiB; the project has 300 for two seconds
		_, _ = l.claimOfKiB(t, "key:acme/b", 4, true)
	}
	w, body := l.claimOfKiB(t, "key:acme/c", 10, true)
	p := problem(t, w, http.StatusTooManyRequests, gen.ProblemCodeRateLimited)
	require.Contains(t, p.Detail, "project's budget of 300")
	require.Zero(t, body.read)
	w, _ = l.claimOfKiB(t, "key:umbrella/a", 4, true)
	require.Equal(t, http.StatusCreated, w.Code)
}

func TestListNeedsABudgetForTheRowsItMayScan(t *testing.T) {
	t.Parallel()
	l := budgeted(t)
	require.Equal(t, http.StatusOK, l.ask(t, "key:acme/a", here, "GET", claimsPath+"?limit=50").Code)
	require.Equal(t, http.StatusOK, l.ask(t, "key:acme/a", here, "GET", claimsPath+"?limit=50").Code, "what is not looked at costs nothing")
	_, _ = l.claimOfKiB(t, "key:acme/a", 3, true) // costs 60, and 30 for each KiB: 50 remain
	tooMany := l.ask(t, "key:acme/a", here, "GET", claimsPath+"?limit=50")
	problem(t, tooMany, http.StatusTooManyRequests, gen.ProblemCodeRateLimited)
	require.Equal(t, http.StatusOK, l.ask(t, "key:acme/a", here, "GET", claimsPath+"?limit=1").Code)
}
