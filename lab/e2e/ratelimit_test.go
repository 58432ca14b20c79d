package e2e

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each caller has its own limit for reads and for writes. A caller is refused only if it has used up its own limit.
func TestRateLimits(t *testing.T) {
	t.Parallel()
	dsn := database(t)
	w := newWorld(t, newCaller(serve(t, dsn, "--auth=keys", "--rate-limit-reads=1", "--rate-limit-writes=1", "--rate-limit-anonymous=1")), dsn)
	free := newCaller(serve(t, dsn, unlimited...)).as(bootstrap(t, dsn))
	free.newProject(t, project)
	busy, quiet := w.as(free.newKey(t, project, "busy", "admin")), w.as(free.newKey(t, project, "quiet", "admin"))
	read := func(c *caller) answer { return c.do(t, http.MethodGet, "/v1/projects/"+project, nil) }
	write := func(c *caller) answer {
		return c.do(t, http.MethodDelete, at("pools", "nothing"), nil)
	}
	// exhaust sends requests until one is refused. A bucket holds the requests of 2 s, and it refills during the test. So the test must send faster
	// than the refill, even on a slow machine.
	exhaust := func(t *testing.T, send func() answer, burst int) answer {
		t.Helper()
		for n := 0; ; n++ {
			a := send()
			if a.status != http.StatusTooManyRequests {
				if a.status != http.StatusUnauthorized {
					require.NotEmpty(t, a.header.Get("RateLimit"))
					require.NotEmpty(t, a.header.Get("RateLimit-Policy"))
				}
				require.Less(t, n, 100_000, "there is no end to it")
				continue
			}
			require.GreaterOrEqual(t, n, burst, "the whole burst was there")
			busy.refused(t, a, "rate_limited")
			wait, err := strconv.Atoi(a.header.Get("Retry-After"))
			require.NoError(t, err)
			require.Positive(t, wait)
			require.NotEmpty(t, a.header.Get("RateLimit"))
			return a
		}
	}
	t.Run("OfReads", func(t *testing.T) {
		exhaust(t, func() answer { return read(busy) }, 2)
		require.NotEqual(t, http.StatusTooManyRequests, write(busy).status, "writes are counted apart")
		require.Equal(t, http.StatusOK, read(quiet).status, "others have their own")
	})
	t.Run("OfWrites", func(t *testing.T) {
		w.writesNothing(t, func() { exhaust(t, func() answer { return write(busy) }, 1) })
		require.Equal(t, http.StatusNotFound, write(quiet).status)
	})
	t.Run("OfRequestsWithoutCredentials", func(t *testing.T) {
		stranger := w.as("")
		exhaust(t, func() answer { return read(stranger) }, 2)
		forged := w.as(busy.token[:len(busy.token)-52] + "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
		require.Equal(t, http.StatusTooManyRequests, exhaust(t, func() answer { return read(forged) }, 0).status, "they share the address")
		require.Equal(t, http.StatusOK, read(quiet).status, "who has credentials is not hurt")
	})
	t.Run("HealthIsNeverLimited", func(t *testing.T) {
		for range 50 {
			require.Equal(t, http.StatusOK, w.as("").do(t, http.MethodGet, "/healthz", nil).status)
			require.Equal(t, http.StatusOK, w.as("").do(t, http.MethodGet, "/readyz", nil).status)
		}
	})
}
