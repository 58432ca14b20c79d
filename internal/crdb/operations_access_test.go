package crdb_test

import (
	"context"
	"maps"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/quota"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

func memberOf(role string) ipam.Member {
	return ipam.Member{Metadata: ipam.Metadata{Name: "corp:alice"}, Spec: ipam.MemberSpec{Role: role}}
}

func withMember(t *testing.T, h *house, p string) {
	t.Helper()
	_, err := h.svc.PutMember(admin(t), p, memberOf("viewer"), usecase.Request{})
	require.NoError(t, err)
}

func putMember(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
	return value(svc.PutMember(ctx, p, memberOf("consumer"), r))
}

func getMember(ctx context.Context, svc *alloc.Service, p string) (any, error) {
	return answer(svc.GetMember(ctx, p, "corp:alice"))
}

func createKey(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
	made, err := svc.CreateKey(ctx, p, ipam.APIKey{Metadata: ipam.Metadata{Name: "robot"}, Spec: ipam.APIKeySpec{Role: "consumer"}}, r)
	made.Value.Token, made.Value.Hash = "", nil // only the first response contains it
	return made.Value, err
}

func getKey(ctx context.Context, svc *alloc.Service, p string) (any, error) {
	k, err := svc.GetKey(ctx, p, "robot")
	k.Hash = nil
	return k, err
}

func withKey(t *testing.T, h *house, p string) {
	t.Helper()
	_, err := createKey(admin(t), h.svc, p, usecase.Request{})
	require.NoError(t, err)
}

func withGrant(t *testing.T, h *house, p string) {
	t.Helper()
	withPool(t, h, p)
	_, err := h.svc.PutPoolGrant(admin(t), p, "pool", ipam.Everybody, usecase.Request{})
	require.NoError(t, err)
}

func quotaOf(claims int64) ipam.Quota {
	return ipam.Quota{Metadata: ipam.Metadata{Name: "all"}, Spec: ipam.QuotaSpec{Limits: ipam.QuotaLimits{Addresses: big.NewInt(1000), Claims: &claims}}}
}

func withQuota(t *testing.T, h *house, p string) {
	t.Helper()
	withClaim(ipam.ReclaimDelete)(t, h, p)
	made, err := h.svc.PutQuota(admin(t), p, quotaOf(2), usecase.Request{})
	require.NoError(t, err)
	pool, err := h.svc.GetPool(admin(t), p, "pool", usecase.Reading{})
	require.NoError(t, err)
	if quota.ShardOf(pool.UID) == 0 { // shard 0 gets the one remaining claim; 15 of 16 pools use another shard
		_, err = dbtest.Connect(t, h.dsn, nil).Exec(t.Context(), "UPDATE quota_shards SET spare_claims = 1 - spare_claims WHERE quota_id = $1 AND shard IN (0, 1)", [16]byte(made.Value.UID))
		require.NoError(t, err)
	}
}

func putQuota(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
	return value(svc.PutQuota(ctx, p, quotaOf(7), r))
}

func getQuota(ctx context.Context, svc *alloc.Service, p string) (any, error) {
	return answer(svc.GetQuota(ctx, p, "all"))
}

func init() {
	maps.Copy(operations, map[string]operation{
		"PutMember":     {tx: "member_put", prepare: nothing, do: putMember, stored: getMember},
		"ReplaceMember": {tx: "member_put", prepare: withMember, do: putMember, stored: getMember},
		"DeleteMember": {tx: "member_delete", prepare: withMember,
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return none(svc.DeleteMember(ctx, p, "corp:alice", r))
			},
			stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
				return gone(svc.GetMember(ctx, p, "corp:alice"))
			}},
		"CreateKey": {tx: "key_create", key: "key", prepare: nothing, do: createKey, stored: getKey},
		"DeleteKey": {tx: "key_delete", prepare: withKey,
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return none(svc.DeleteKey(ctx, p, "robot", r))
			},
			stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
				return gone(svc.GetKey(ctx, p, "robot"))
			}},
		"PutPoolGrant": {tx: "pool_grant_put", prepare: withPool,
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return value(svc.PutPoolGrant(ctx, p, "pool", ipam.Everybody, r))
			},
			stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
				return answer(svc.GetPoolGrant(ctx, p, "pool", ipam.Everybody))
			}},
		"DeletePoolGrant": {tx: "pool_grant_delete", prepare: withGrant,
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return none(svc.DeletePoolGrant(ctx, p, "pool", ipam.Everybody, r))
			},
			stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
				return gone(svc.GetPoolGrant(ctx, p, "pool", ipam.Everybody))
			}},
		"PutQuota":     {tx: "quota_put", prepare: withClaim(ipam.ReclaimDelete), do: putQuota, stored: getQuota},
		"ReplaceQuota": {tx: "quota_put", prepare: withQuota, do: putQuota, stored: getQuota},
		"DeleteQuota": {tx: "quota_delete", prepare: withQuota,
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return none(svc.DeleteQuota(ctx, p, "all", r))
			},
			stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
				return gone(svc.GetQuota(ctx, p, "all"))
			}},
		"CreateClaimWithinQuota": {tx: "claim_group", key: "key", prepare: withQuota,
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return value(svc.CreateClaim(ctx, p, claimOf("second", p, "pool", 28), r))
			},
			stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
				return answer(svc.GetClaim(ctx, p, "second", usecase.Reading{}))
			}},
		"DeleteClaimWithinQuota": {tx: "claim_group", prepare: withQuota,
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return none(svc.DeleteClaim(ctx, p, "claim", r))
			},
			stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
				return gone(svc.GetClaim(ctx, p, "claim", usecase.Reading{}))
			}},
	})
}
