package apicall_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/lab/apicall"
)

// asked is a request that the test server received.
type asked struct {
	line, body string
	header     http.Header
}

func pretend(t *testing.T, status int, answer string) (apicall.Caller, *asked) {
	t.Helper()
	seen := &asked{}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		*seen = asked{r.Method + " " + r.URL.Path, string(body), r.Header}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(h.Close)
	return apicall.Caller{URL: h.URL}, seen
}

func TestRequestHasOnlyTheNeededHeaders(t *testing.T) {
	t.Parallel()
	c, seen := pretend(t, http.StatusCreated, "made")
	answer, err := c.Do(t.Context(), http.MethodGet, "/readyz", "")
	require.NoError(t, err)
	require.Equal(t, "made", string(answer))
	require.Equal(t, "GET /readyz", seen.line)
	require.NotContains(t, seen.header, "Content-Type")
	require.NotContains(t, seen.header, "Authorization")

	c.Key, c.Header = "secret", http.Header{"X-More": {"1"}}
	_, err = c.Do(t.Context(), http.MethodPost, "/v1/projects", `{"a":1}`)
	require.NoError(t, err)
	require.Equal(t, `{"a":1}`, seen.body)
	for name, want := range map[string]string{"Content-Type": "application/json", "Authorization": "Bearer secret", "X-More": "1"} {
		require.Equal(t, want, seen.header.Get(name))
	}
	require.Len(t, c.Header, 1, "the caller's own are left as they are")
}

func TestRefusalIsAnErrorWithItsReason(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusFound, http.StatusConflict, http.StatusInternalServerError} {
		c, _ := pretend(t, status, "no room")
		_, err := c.Do(t.Context(), http.MethodPost, "/v1/projects", "{}")
		require.ErrorContains(t, err, "POST /v1/projects: ")
		require.ErrorContains(t, err, " no room")
		_, err = c.MakeKey(t.Context(), "team", "load")
		require.Error(t, err)
	}
}

func TestKeyIsMadeInItsProject(t *testing.T) {
	t.Parallel()
	c, seen := pretend(t, http.StatusCreated, `{"token":"carve_0_x"}`)
	token, err := c.MakeKey(t.Context(), "team", "load")
	require.NoError(t, err)
	require.Equal(t, "carve_0_x", token)
	require.Equal(t, "POST /v1/projects/team/api-keys", seen.line)
	require.JSONEq(t, `{"metadata":{"name":"load"},"spec":{"role":"consumer"}}`, seen.body)
}
