package codec

import (
	"encoding/json"
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func TestKeyIsActiveUntilItExpires(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC)
	k := ipam.APIKey{Metadata: meta("k"), Spec: ipam.APIKeySpec{Role: "viewer", ExpiresAt: at}, Token: "carve_secret", Hash: []byte("hash")}
	require.Equal(t, gen.APIKeyPhaseActive, KeyOf(k, at.Add(-time.Nanosecond)).Status.Phase)
	require.Equal(t, gen.APIKeyPhaseExpired, KeyOf(k, at).Status.Phase)
	require.Equal(t, at, *KeyOf(k, at).Spec.ExpiresAt)
	require.Nil(t, KeyOf(k, at).Status.LastUsedAt)
	require.Empty(t, KeyOf(k, at).Token)

	k.Spec.ExpiresAt, k.LastUsedAt = time.Time{}, at
	forever := KeyOf(k, at.AddDate(1000, 0, 0))
	require.Equal(t, gen.APIKeyPhaseActive, forever.Status.Phase)
	require.Nil(t, forever.Spec.ExpiresAt)
	require.Equal(t, at, *forever.Status.LastUsedAt)
	require.Regexp(t, `^[0-9a-f]{32}$`, forever.Status.KeyID)
}

func TestGrantsAreNamedByTheirConsumer(t *testing.T) {
	t.Parallel()
	g := GrantOf(ipam.Grant{Metadata: meta(ipam.Everybody), Kind: ipam.GrantOfPool})
	require.Equal(t, "*", g.Metadata.Name)
	require.Equal(t, "*", g.Spec.Consumer)
	text, err := json.Marshal(g)
	require.NoError(t, err)
	require.NotContains(t, string(text), "labels")
	require.NotContains(t, string(text), "region")
}

func TestQuotasRoundTripThroughJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int64Range(0, 1<<53-1)
		q := ipam.Quota{Metadata: meta("q")}
		if rapid.Bool().Draw(t, "addresses") {
			q.Spec.Limits.Addresses = new(big.Int).Lsh(big.NewInt(limit.Draw(t, "n")), rapid.UintRange(0, 75).Draw(t, "shift"))
		}
		if rapid.Bool().Draw(t, "claims") {
			q.Spec.Limits.Claims = new(limit.Draw(t, "n"))
		}
		if rapid.Bool().Draw(t, "pools") {
			q.Spec.Limits.Pools = new(limit.Draw(t, "n"))
		}
		if rapid.Bool().Draw(t, "scoped") {
			q.Spec.Scope = ipam.QuotaScope{Pool: ipam.Ref{Project: "b", Name: "p"}, Family: ipam.IPv6}
		}
		if rapid.Bool().Draw(t, "of a class") {
			q.Spec.Scope.Class = ipam.Ref{Project: "platform", Name: "standard"}
		}
		text, err := json.Marshal(QuotaOf(q).Spec)
		require.NoError(t, err)
		var wire gen.QuotaSpec
		require.NoError(t, json.Unmarshal(text, &wire))
		got, err := QuotaSpec("elsewhere", wire)
		require.NoError(t, err)
		require.Equal(t, q.Spec.Scope, got.Scope)
		require.Equal(t, q.Spec.Limits.Claims, got.Limits.Claims)
		require.Equal(t, q.Spec.Limits.Pools, got.Limits.Pools)
		require.Equal(t, q.Spec.Limits.Addresses.String(), got.Limits.Addresses.String())
	})
}

func TestAvailableQuotaIsNeverNegative(t *testing.T) {
	t.Parallel()
	q := ipam.Quota{
		Spec: ipam.QuotaSpec{Limits: ipam.QuotaLimits{Addresses: big.NewInt(10), Claims: new(int64(3)), Pools: new(int64(math.MaxInt64))}},
		Used: ipam.Usage{Addresses: big.NewInt(11), Claims: 4},
	}
	require.Equal(t, gen.QuotaStatus{
		Used:      gen.QuotaUsed{Addresses: "11", Claims: 4, Pools: 0},
		Available: gen.QuotaAvailable{Addresses: "0", Claims: new(int64(0)), Pools: new(int64(math.MaxInt64))},
	}, QuotaOf(q).Status)

	q = ipam.Quota{Spec: ipam.QuotaSpec{Limits: ipam.QuotaLimits{Addresses: big.NewInt(10)}}} // the quota has no usage yet, so Used is nil
	require.Equal(t, gen.QuotaStatus{
		Used: gen.QuotaUsed{Addresses: "0"}, Available: gen.QuotaAvailable{Addresses: "10"},
	}, QuotaOf(q).Status)
}

// If the use case has cleared a field, the response must omit the field.
func TestForeignAllocationShowsOnlyItsProject(t *testing.T) {
	t.Parallel()
	a := ipam.Allocation{
		ID: ipam.NewID(), Project: "platform", Pool: ipam.Ref{Project: "platform", Name: "p"}, Block: childPool().Block,
		Purpose: ipam.PurposeClaim, Phase: ipam.PhaseBound, Holder: ipam.Ref{Project: "team-a"}, ReclaimPolicy: ipam.ReclaimDelete,
		CreatedAt: childPool().CreatedAt, UpdatedAt: childPool().CreatedAt,
	}
	text, err := json.Marshal(AllocationOf(a))
	require.NoError(t, err)
	for _, absent := range []string{"claimRef", "ownerRef", "createdBy"} {
		require.NotContains(t, string(text), absent)
	}
	require.Equal(t, "team-a", AllocationOf(a).Spec.Consumer)

	a.Holder.Name, a.CreatedBy, a.OwnerRef = "web", "corp:alice@example.com", &ipam.OwnerRef{Kind: "Cluster"}
	got := AllocationOf(a)
	require.Equal(t, &gen.ResolvedRef{Project: "team-a", Name: "web"}, got.Spec.ClaimRef)
	require.Equal(t, &gen.OwnerRef{Kind: "Cluster"}, got.Spec.OwnerRef)
	require.Equal(t, "corp:alice@example.com", got.Metadata.CreatedBy)

	a.Purpose = ipam.PurposeChildPool
	require.Empty(t, AllocationOf(a).Spec.Consumer)
}
