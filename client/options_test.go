package client_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

func TestCredentialOverPlainHTTPIsRefused(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"http://127.0.0.1:8080", "http://localhost", "http://LOCALHOST:1/x/", "http://[::1]:8080", "https://carve.example.com"} {
		_, err := client.New(url, client.WithAPIKey("carve_a_b"))
		require.NoError(t, err, url)
	}
	for _, url := range []string{"http://carve.example.com", "http://localhost.example.com", "http://10.0.0.1:8080", "http://127.0.0.1.example.com"} {
		_, err := client.New(url, client.WithAPIKey("carve_a_b"))
		require.ErrorIs(t, err, client.ErrInsecureHTTP, url)
		_, err = client.New(url, client.WithAPIKey("carve_a_b"), client.WithInsecureHTTP())
		require.NoError(t, err, url)
	}
}

func TestInvalidOptionIsRefusedWithoutItsValue(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "carve.example.com", "ftp://carve.example.com", "https://", "https://x/?a=b", "https://x/#a", "https://me:hunter2@x"} {
		_, err := client.New(url)
		require.Error(t, err, url)
		require.NotContains(t, err.Error(), "hunter2")
	}
	for name, opt := range map[string]client.Option{
		"AnEmptyKey":     client.WithAPIKey(" "),
		"AKeyOfTwoLines": client.WithAPIKey("carve_hunter2\nX-Evil: 1"),
		"NoSource":       client.WithTokenSource(nil),
		"NoClient":       client.WithHTTP(nil),
		"NoAttempts":     client.WithRetry(client.RetryPolicy{}),
		"NegativeTime":   client.WithTimeout(-1),
	} {
		_, err := client.New("https://x", opt)
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), "hunter2")
	}
}

func TestEveryRequestHasItsHeadersAndOneToken(t *testing.T) {
	t.Parallel()
	var got http.Header
	note := func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{}`))
	}
	tokens := 0
	c := answering(t, note,
		client.WithTokenSource(func(context.Context) (string, error) { tokens++; return "jwt", nil }),
		client.WithUserAgent("deployer/1.4"),
		client.WithHeader("X-Request-Id", "deploy-42"),
	)
	_, err := c.GetVersion(t.Context())
	require.NoError(t, err)
	require.Equal(t, "Bearer jwt", got.Get("Authorization"))
	require.Equal(t, "deployer/1.4 carve-go/"+client.ContractVersion, got.Get("User-Agent"))
	require.Equal(t, "deploy-42", got.Get("X-Request-Id"))
	require.Empty(t, got.Get("Idempotency-Key"), "a GET takes none")
	require.Equal(t, 1, tokens)

	answer, err := c.Raw.GetVersion(t.Context(), func(_ context.Context, req *http.Request) error {
		req.Header.Set("X-Request-Id", "this-one")
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, "this-one", got.Get("X-Request-Id"))
}

func TestNothingIsSentWhenTheTokenSourceFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("no issuer")
	c := answering(t, func(http.ResponseWriter, *http.Request) { t.Error("it was asked") },
		client.WithTokenSource(func(context.Context) (string, error) { return "", broken }))
	_, err := c.GetVersion(t.Context())
	require.ErrorIs(t, err, broken)
	require.False(t, client.MayBeDone(err))
}

// The client must not follow a redirect, because it would send the credential to another host.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	elsewhere := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was followed") })
	for name, opts := range map[string][]client.Option{
		"ByDefault":        nil,
		"WithAClientGiven": {client.WithHTTP(&http.Client{})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := answering(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/elsewhere" {
					elsewhere(w, r)
					return
				}
				http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
			}, append(opts, client.WithAPIKey("carve_a_b"))...)
			_, err := c.GetVersion(t.Context())
			require.ErrorIs(t, err, client.ErrForeign)
		})
	}
}
