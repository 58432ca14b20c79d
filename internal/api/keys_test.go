package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

func TestCreateAPIKey(t *testing.T) {
	t.Parallel()
	const body = `{"metadata": {"name": "pipeline", "labels": {"unit": "shops"}},
		"spec": {"role": "provider", "expiresAt": "2100-01-01T00:00:00Z", "description": "Creates clusters"}}`

	t.Run("ReturnsItsTokenOnce", func(t *testing.T) {
		t.Parallel()
		s := scriptAccess()
		s.key.Token, _ = tenancy.NewToken(s.key.UID)
		w := s.server(t).do(t, "POST", keys, body)
		require.Equal(t, http.StatusCreated, w.Code, w.Body.String())
		require.Equal(t, keys+"/pipeline", w.Header().Get("Location"))
		require.Equal(t, tagOf(s.key.Metadata), w.Header().Get("ETag"))
		require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
		got := decode[gen.APIKey](t, w)
		require.Equal(t, s.key.Token, got.Token)
		require.Contains(t, got.Token, "carve_"+got.Status.KeyID+"_", "the id in the token finds the key")
		require.Equal(t, ipam.APIKeySpec{
			Role: "provider", ExpiresAt: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), Description: "Creates clusters",
		}, s.askedK.Spec)
		require.Equal(t, map[string]string{"unit": "shops"}, s.askedK.Labels)

		// The response must not contain the token, even if a use case returned it again.
		for _, path := range []string{keys, keys + "/pipeline"} {
			w := s.server(t).do(t, "GET", path, "")
			require.Equal(t, http.StatusOK, w.Code)
			require.NotContains(t, w.Body.String(), "token")
			require.NotContains(t, w.Body.String(), s.key.Token)
		}
	})

	t.Run("ReturnsNoTokenForAReplayOrADryRun", func(t *testing.T) {
		t.Parallel()
		s := scriptAccess()
		s.repeat = true
		w := s.server(t).do(t, "POST", keys, body, "Idempotency-Key", "key-1")
		require.Equal(t, http.StatusCreated, w.Code)
		require.Equal(t, "true", w.Header().Get("Idempotency-Replayed"))
		require.NotContains(t, w.Body.String(), "token")
		require.Equal(t, "key-1", s.request.Key)

		s.repeat = false
		w = s.server(t).do(t, "POST", keys+"?dryRun=true", body)
		require.Equal(t, "true", w.Header().Get("Dry-Run"))
		require.NotContains(t, w.Body.String(), "token")
		require.Equal(t, usecase.Request{DryRun: true}, s.request)
	})

	t.Run("IsTheSameRequestInAnyZone", func(t *testing.T) {
		t.Parallel()
		s := scriptAccess()
		fingerprint := func(spec string) [16]byte {
			w := s.server(t).do(t, "POST", keys, `{"metadata": {"name": "pipeline"}, "spec": `+spec+`}`, "Idempotency-Key", "k")
			require.Equal(t, http.StatusCreated, w.Code, w.Body.String())
			return s.request.Fingerprint
		}
		utc := fingerprint(`{"role": "viewer", "expiresAt": "2100-01-01T00:00:00Z"}`)
		require.Equal(t, utc, fingerprint(`{"expiresAt": "2100-01-01T02:00:00.000+02:00", "role": "viewer"}`))
		require.NotEqual(t, utc, fingerprint(`{"role": "viewer", "expiresAt": "2100-01-01T00:00:01Z"}`))
		require.NotEqual(t, utc, fingerprint(`{"role": "admin", "expiresAt": "2100-01-01T00:00:00Z"}`))
		require.NotEqual(t, utc, fingerprint(`{"role": "viewer"}`))
	})

	t.Run("CompletesAGeneratedName", func(t *testing.T) {
		t.Parallel()
		s := scriptAccess()
		s.server(t).do(t, "POST", keys, `{"metadata": {"generateName": "ci-"}, "spec": {"role": "viewer"}}`)
		require.Regexp(t, `^ci-[a-z0-9]{6}$`, s.askedK.Name)
		require.Zero(t, s.askedK.Spec.ExpiresAt)
	})
}
