package e2e

import (
	"net/http"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A load balancer needs some time to notice that a server is stopping. --drain-delay gives it that time.
func TestDrainDelay(t *testing.T) {
	t.Parallel()
	dsn := database(t)

	t.Run("ServesButIsNotReady", func(t *testing.T) {
		t.Parallel()
		p := startProcess(t, serverBinary(t), nil, "--database-url="+dsn, "--drain-delay=10m")
		kept := &http.Client{Transport: &http.Transport{}}
		ask := func(path string) (status int, last bool) {
			t.Helper()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.Addr()+path, http.NoBody)
			require.NoError(t, err)
			w, err := kept.Do(r)
			require.NoError(t, err, "new connections and old ones are served")
			require.NoError(t, w.Body.Close())
			return w.StatusCode, w.Close
		}
		status, last := ask("/readyz")
		require.Equal(t, http.StatusOK, status)
		require.False(t, last, "a connection is kept while there is no reason to end it")

		require.NoError(t, p.Signal(syscall.SIGTERM))
		require.Eventually(t, func() bool { status, _ = ask("/readyz"); return status == http.StatusServiceUnavailable }, waitLimit, tick)
		for path, want := range map[string]int{"/readyz": http.StatusServiceUnavailable, "/healthz": http.StatusOK, "/v1/projects": http.StatusOK} {
			status, last = ask(path)
			require.Equal(t, want, status, path)
			require.True(t, last, "%s: its connection ends, so that the next one can be made to another server", path)
		}

		require.NoError(t, p.Signal(syscall.SIGTERM))
		require.Error(t, p.Wait(), "a second signal ends it at once")
		require.NotContains(t, p.Log(), "level=ERROR", "that it is not ready is what was asked for")
	})
	t.Run("EndsByItself", func(t *testing.T) {
		t.Parallel()
		p := startProcess(t, serverBinary(t), nil, "--database-url="+dsn, "--drain-delay=50ms")
		require.NoError(t, p.Stop())
	})
	t.Run("IsRefusedOutsideOfItsRange", func(t *testing.T) {
		t.Parallel()
		for _, wrong := range []string{"-1s", "10m1s"} {
			refused := refusedProcess(t, serverBinary(t), nil, "--database-url="+dsn, "--drain-delay="+wrong)
			require.Equal(t, 2, refused.State.ExitCode())
			require.Contains(t, refused.Log, "--drain-delay "+wrong+" is not between 0 and 10m")
		}
	})
}
