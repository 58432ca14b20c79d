package api

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

func TestRequestFingerprints(t *testing.T) {
	t.Parallel()
	by := func(who tenancy.Principal, operation, path, body string) [16]byte {
		var wire gen.IPClaimCreate
		require.NoError(t, json.Unmarshal([]byte(body), &wire))
		key := "k"
		r, err := creation(who, operation, path, wire, &key, nil)
		require.NoError(t, err)
		require.NotZero(t, r.Fingerprint)
		return r.Fingerprint
	}
	of := func(operation, path, body string) [16]byte { return by(tenancy.Principal{}, operation, path, body) }
	const body = `{"metadata": {"generateName": "w-", "labels": {"a": "1", "b": "2"}}, "spec": {"poolRef": {"name": "p"}}}`
	same := of("createClaim", "/v1/projects/a/claims", body)

	t.Run("IgnoreSpelling", func(t *testing.T) {
		t.Parallel()
		const other = `{"spec":{"poolRef":{"name":"\u0070"}},"metadata":{"labels":{"b":"2","a":"1"},"generateName":"w-"}}`
		require.Equal(t, same, of("createClaim", "/v1/projects/a/claims", other))
	})

	t.Run("DistinguishRequests", func(t *testing.T) {
		t.Parallel()
		require.NotEqual(t, same, of("createPool", "/v1/projects/a/claims", body))
		require.NotEqual(t, same, of("createClaim", "/v1/projects/b/claims", body))
		require.NotEqual(t, same, of("createClaim", "/v1/projects/a/claims", `{"metadata": {"generateName": "v-"}, "spec": {}}`))
	})

	t.Run("DistinguishAPIKeysOfOneName", func(t *testing.T) {
		t.Parallel()
		first, second := tenancy.Principal{Subject: "key:a/ci", Key: ipam.NewID()}, tenancy.Principal{Subject: "key:a/ci", Key: ipam.NewID()}
		one := by(first, "createClaim", "/v1/projects/a/claims", body)
		require.Equal(t, one, by(first, "createClaim", "/v1/projects/a/claims", body))
		require.NotEqual(t, one, by(second, "createClaim", "/v1/projects/a/claims", body))
	})

	t.Run("NeedAnIdempotencyKey", func(t *testing.T) {
		t.Parallel()
		dry := true
		r, err := creation(tenancy.Principal{}, "createClaim", "/v1", gen.IPClaimCreate{}, nil, &dry)
		require.NoError(t, err)
		require.Zero(t, r.Fingerprint)
		require.True(t, r.DryRun)
	})
}
