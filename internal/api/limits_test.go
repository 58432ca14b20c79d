package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/api/gen"
)

// tooMany checks that a response has status 429, because of the given limit.
func tooMany(t *testing.T, w *httptest.ResponseRecorder, policy string) {
	t.Helper()
	p := problem(t, w, http.StatusTooManyRequests, gen.ProblemCodeRateLimited)
	require.Contains(t, p.Detail, policy)
	require.Equal(t, "1", w.Header().Get("Retry-After"))
	require.Equal(t, `"`+policy+`";r=0;t=1`, w.Header().Get("RateLimit"))
	require.Empty(t, w.Header().Get("WWW-Authenticate"))
}

func TestReadsAndWritesHaveSeparateLimits(t *testing.T) {
	t.Parallel()
	l := limit(t, script())
	for left := 5; left >= 0; left-- {
		w := l.ask(t, "alice", here, "GET", poolsPath+"/p")
		require.Equal(t, http.StatusOK, w.Code)
		require.Equal(t, `"reads";q=6;w=2`, w.Header().Get("RateLimit-Policy"))
		require.Equal(t, `"reads";r=`+string(rune('0'+left))+`;t=1`, w.Header().Get("RateLimit"))
	}
	w := l.ask(t, "alice", here, "GET", poolsPath+"/p")
	tooMany(t, w, "reads")
	require.Equal(t, `"reads";q=6;w=2`, w.Header().Get("RateLimit-Policy"))
	tooMany(t, l.ask(t, "alice", there, "HEAD", poolsPath+"/p"), "reads")

	w = l.ask(t, "alice", here, "DELETE", poolsPath+"/p")
	require.Equal(t, http.StatusNoContent, w.Code, "writes have their own bucket")
	require.Equal(t, `"writes";r=3;t=1`, w.Header().Get("RateLimit"))
	require.Equal(t, http.StatusOK, l.ask(t, "bob", here, "GET", poolsPath+"/p").Code, "and so has everybody else")

	l.pass(time.Second)
	for range 3 {
		require.Equal(t, http.StatusOK, l.ask(t, "alice", here, "GET", poolsPath+"/p").Code)
	}
	tooMany(t, l.ask(t, "alice", here, "GET", poolsPath+"/p"), "reads")
}

func TestRefusedRequestsCountTowardsTheLimit(t *testing.T) {
	t.Parallel()
	l := limit(t, script())
	for range 4 {
		w := l.ask(t, "alice", here, "DELETE", "/v1/projects/team-b/pools/p")
		problem(t, w, http.StatusNotFound, gen.ProblemCodeNotFound)
		require.NotEmpty(t, w.Header().Get("RateLimit"))
	}
	tooMany(t, l.ask(t, "alice", here, "DELETE", "/v1/projects/team-b/pools/p"), "writes")
	tooMany(t, l.ask(t, "alice", here, "DELETE", poolsPath+"/p"), "writes")
}

func TestStaticPagesAreNotRateLimited(t *testing.T) {
	t.Parallel()
	l := limit(t, script())
	for _, path := range []string{"/healthz", "/readyz", "/openapi.json", "/docs/", "/problems/in_use", "/v1/version"} {
		for range 20 {
			w := l.ask(t, "alice", here, "GET", path)
			require.Equal(t, http.StatusOK, w.Code, path)
			require.Empty(t, w.Header().Get("RateLimit"), path)
		}
	}
	problem(t, l.ask(t, "", here, "GET", "/v1/version"), http.StatusUnauthorized, gen.ProblemCodeUnauthenticated)
}

func TestDevelopmentModeIsNotLimited(t *testing.T) {
	t.Parallel()
	l := limit(t, script())
	dev := limitedDev(t, l)
	for range 20 {
		w := dev.do(t, "GET", poolsPath+"/p", "")
		require.Equal(t, http.StatusOK, w.Code)
		require.Empty(t, w.Header().Get("RateLimit"))
	}
}

func TestGuessesAreLimitedByAddress(t *testing.T) {
	t.Parallel()
	for name, who := range map[string]string{"WithoutCredentials": "", "WithOthers": "mallory"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := limit(t, script())
			for range 4 {
				w := l.ask(t, who, here, "GET", poolsPath+"/p")
				problem(t, w, http.StatusUnauthorized, gen.ProblemCodeUnauthenticated)
				require.Equal(t, "Bearer", w.Header().Get("WWW-Authenticate"))
			}
			w := l.ask(t, who, here, "GET", poolsPath+"/p")
			tooMany(t, w, "anonymous")
			require.Equal(t, `"anonymous";q=4;w=2`, w.Header().Get("RateLimit-Policy"))
			problem(t, l.ask(t, who, there, "GET", poolsPath+"/p"), http.StatusUnauthorized, gen.ProblemCodeUnauthenticated)
			l.pass(time.Second / 2)
			problem(t, l.ask(t, who, here, "GET", poolsPath+"/p"), http.StatusUnauthorized, gen.ProblemCodeUnauthenticated)
			tooMany(t, l.ask(t, who, here, "GET", poolsPath+"/p"), "anonymous")
		})
	}
}

func TestFloodFromOneAddressSparesKnownCallers(t *testing.T) {
	t.Parallel()
	l := limit(t, script())
	require.Equal(t, http.StatusOK, l.ask(t, "alice", here, "GET", poolsPath+"/p").Code)
	for range 10 {
		l.ask(t, "mallory", here, "GET", poolsPath+"/p")
	}
	lookups := l.door.lookups.Load()
	tooMany(t, l.ask(t, "mallory", here, "GET", poolsPath+"/p"), "anonymous")
	require.Equal(t, http.StatusOK, l.ask(t, "alice", here, "GET", poolsPath+"/p").Code, "known, so not hurt")
	tooMany(t, l.ask(t, "bob", here, "GET", poolsPath+"/p"), "anonymous")
	require.Equal(t, lookups, l.door.lookups.Load(), "nothing is looked up for an address without attempts")
	require.Equal(t, http.StatusOK, l.ask(t, "bob", there, "GET", poolsPath+"/p").Code)
}

func TestValidCredentialsDoNotChargeTheAddress(t *testing.T) {
	t.Parallel()
	l := limit(t, script())
	for range 4 {
		l.door.known["bob"] = false // not in the cache, so that the server looks bob up
		require.Equal(t, http.StatusNoContent, l.ask(t, "bob", here, "DELETE", poolsPath+"/p").Code)
	}
	require.EqualValues(t, 4, l.door.lookups.Load())
	for range 4 {
		problem(t, l.ask(t, "", here, "GET", poolsPath+"/p"), http.StatusUnauthorized, gen.ProblemCodeUnauthenticated)
	}
}

// The test sends requests that two checks would refuse. The error shows which check runs first.
func TestOrderOfTheChecks(t *testing.T) {
	t.Parallel()
	unread := func(t *testing.T, l limited, who, method, path string) *httptest.ResponseRecorder {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), method, path, mustNotRead{t})
		r.Header.Set("Authorization", "Bearer "+who)
		r.Header.Set("Content-Type", "text/plain")
		return l.send(t, r)
	}
	t.Run("NoSuchMethodBeforeCredentials", func(t *testing.T) {
		t.Parallel()
		problem(t, limit(t, nil).ask(t, "", here, "PUT", poolsPath), http.StatusMethodNotAllowed, gen.ProblemCodeMethodNotAllowed)
	})
	t.Run("LengthBeforeCredentials", func(t *testing.T) {
		t.Parallel()
		l := limit(t, nil)
		r := httptest.NewRequestWithContext(t.Context(), "POST", poolsPath, strings.NewReader("{}"))
		r.ContentLength = 2 << 20
		problem(t, l.send(t, r), http.StatusRequestEntityTooLarge, gen.ProblemCodePayloadTooLarge)
	})
	t.Run("CredentialsBeforeTheBody", func(t *testing.T) {
		t.Parallel()
		problem(t, unread(t, limit(t, nil), "mallory", "POST", poolsPath), http.StatusUnauthorized, gen.ProblemCodeUnauthenticated)
	})
	t.Run("RateBeforeRights", func(t *testing.T) {
		t.Parallel()
		l := limit(t, nil)
		for range 4 {
			unread(t, l, "alice", "POST", "/v1/projects/team-b/pools")
		}
		tooMany(t, unread(t, l, "alice", "POST", "/v1/projects/team-b/pools"), "writes")
	})
	t.Run("RightsBeforeTheBody", func(t *testing.T) {
		t.Parallel()
		l := limit(t, nil)
		problem(t, unread(t, l, "alice", "POST", "/v1/projects/team-b/pools"), http.StatusNotFound, gen.ProblemCodeNotFound)
		problem(t, unread(t, l, "alice", "POST", "/v1/projects"), http.StatusForbidden, gen.ProblemCodePermissionDenied)
		problem(t, unread(t, l, "alice", "POST", poolsPath), http.StatusUnsupportedMediaType, gen.ProblemCodeUnsupportedMediaType)
	})
	t.Run("RightsBeforeValidity", func(t *testing.T) {
		t.Parallel()
		l := limit(t, nil)
		problem(t, l.ask(t, "alice", here, "GET", "/v1/projects/team-b/pools?limit=many"), http.StatusNotFound, gen.ProblemCodeNotFound)
		problem(t, l.ask(t, "alice", here, "GET", poolsPath+"?limit=many"), http.StatusBadRequest, gen.ProblemCodeInvalidArgument)
	})
}

// mustNotRead is a body that the server may not read.
type mustNotRead struct{ t *testing.T }

func (m mustNotRead) Read([]byte) (int, error) {
	m.t.Error("the body was read")
	return 0, http.ErrBodyReadAfterClose
}
