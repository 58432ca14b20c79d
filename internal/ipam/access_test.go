package ipam_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
)

func TestValidSubject(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"a", "dev", "corp:alice@example.com", "system:serviceaccount:ci", "x|y+z=1", "A.B_C-D", strings.Repeat("a", 255), "-", "=",
	} {
		require.True(t, ipam.ValidSubject(s), s)
	}
	for _, s := range []string{
		"", " ", "a b", "a/b", "key:acme/ci", "a\n", "\na", "a\x00", "é", "a,b", "a?b", "a#b", "a%b", `a"b`, "a\\b", "*", strings.Repeat("a", 256), "a\u200b",
	} {
		require.False(t, ipam.ValidSubject(s), "%q", s)
	}
}

func TestValidConsumer(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"*", "a", "team-b", strings.Repeat("a", 63)} {
		require.True(t, ipam.ValidConsumer(s), s)
	}
	for _, s := range []string{"", "**", "a*", "*a", "A", "a/b", "-a", "a-", strings.Repeat("a", 64), "* "} {
		require.False(t, ipam.ValidConsumer(s), "%q", s)
	}
}

func TestKeyExpiresAtItsTime(t *testing.T) {
	t.Parallel()
	ends := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		expiresAt, now time.Time
		want           bool
	}{
		"Never":          {time.Time{}, ends, false},
		"Before":         {ends, ends.Add(-time.Nanosecond), false},
		"AtThatMoment":   {ends, ends, true},
		"After":          {ends, ends.Add(time.Nanosecond), true},
		"InAnotherZone":  {ends, ends.In(time.FixedZone("x", 3600)), true},
		"BeforeAllTimes": {ends, time.Time{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := ipam.APIKey{Spec: ipam.APIKeySpec{ExpiresAt: c.expiresAt}}
			require.Equal(t, c.want, k.Expired(c.now))
			require.Equal(t, map[bool]string{true: "Expired", false: "Active"}[c.want], k.Phase(c.now))
		})
	}
}

// The server stores responses for idempotency keys. Such a response has the API key as JSON, so this JSON must not contain the secret.
func TestKeyAsJSONContainsNeitherTokenNorHash(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(ipam.APIKey{Metadata: ipam.Metadata{Name: "ci"}, Hash: []byte("hash-of-it"), Token: "carve_token"})
	require.NoError(t, err)
	require.Contains(t, string(text), `"name":"ci"`)
	for _, secret := range []string{"carve_token", "hash-of-it", "aGFzaC1vZi1pdA"} {
		require.NotContains(t, string(text), secret)
	}
}
