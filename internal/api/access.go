package api

import (
	"context"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// memberHandlers serves members.
type memberHandlers struct{ use Members }

func (s memberHandlers) ListMembers(c echo.Context, project string, p gen.ListMembersParams) error {
	return list(c, p.Limit, p.Cursor, project, s.use.ListMembers, codec.MemberOf)
}

func (s memberHandlers) GetMember(c echo.Context, project, subject string, _ gen.GetMemberParams) error {
	return get(c, project, subject, s.use.GetMember, codec.MemberOf)
}

func (s memberHandlers) PutMember(c echo.Context, project, subject string, p gen.PutMemberParams) error {
	return put(c, conditions{p.IfMatch, p.IfNoneMatch, p.DryRun}, project, subject, codec.PutMember, s.use.PutMember, codec.MemberOf)
}

func (s memberHandlers) DeleteMember(c echo.Context, project, subject string, p gen.DeleteMemberParams) error {
	return remove(c, p.IfMatch, p.DryRun, project, subject, s.use.DeleteMember)
}

// keyHandlers serves API keys. It needs a clock because the phase of a key, such as expired, depends on the time.
type keyHandlers struct {
	use   Keys
	clock func() time.Time
}

func (s keyHandlers) show(k ipam.APIKey) gen.APIKey { return codec.KeyOf(k, s.clock()) }

func (s keyHandlers) ListAPIKeys(c echo.Context, project string, p gen.ListAPIKeysParams) error {
	return list(c, p.Limit, p.Cursor, project, s.use.ListKeys, s.show)
}

// CreateAPIKey returns the token once. Retries compare a fingerprint of the request body, and the body contains no secret.
func (s keyHandlers) CreateAPIKey(c echo.Context, project string, p gen.CreateAPIKeyParams) error {
	return create(c, post{project: project, key: p.IdempotencyKey, dryRun: p.DryRun}, codec.NewKey, s.use.CreateKey, func(k ipam.APIKey) gen.APIKey {
		shown := s.show(k)
		shown.Token = k.Token
		return shown
	})
}

func (s keyHandlers) GetAPIKey(c echo.Context, project, key string) error {
	return get(c, project, key, s.use.GetKey, s.show)
}

func (s keyHandlers) DeleteAPIKey(c echo.Context, project, key string, p gen.DeleteAPIKeyParams) error {
	return remove(c, p.IfMatch, p.DryRun, project, key, s.use.DeleteKey)
}

// poolGrantHandlers serves grants of pools.
type poolGrantHandlers struct{ use PoolGrants }

func (s poolGrantHandlers) ListPoolGrants(c echo.Context, project, pool string, p gen.ListPoolGrantsParams) error {
	return listGrants(c, p.Limit, p.Cursor, project, pool, s.use.ListPoolGrants)
}

func (s poolGrantHandlers) GetPoolGrant(c echo.Context, project, pool, consumer string, _ gen.GetPoolGrantParams) error {
	return getGrant(c, project, pool, consumer, s.use.GetPoolGrant)
}

func (s poolGrantHandlers) PutPoolGrant(c echo.Context, project, pool, consumer string, p gen.PutPoolGrantParams) error {
	return putGrant(c, conditions{p.IfMatch, p.IfNoneMatch, p.DryRun}, project, pool, consumer, s.use.PutPoolGrant)
}

func (s poolGrantHandlers) DeletePoolGrant(c echo.Context, project, pool, consumer string, p gen.DeletePoolGrantParams) error {
	return deleteGrant(c, p.IfMatch, p.DryRun, project, pool, consumer, s.use.DeletePoolGrant)
}

// spaceGrantHandlers serves grants of spaces.
type spaceGrantHandlers struct{ use SpaceGrants }

func (s spaceGrantHandlers) ListSpaceGrants(c echo.Context, project, space string, p gen.ListSpaceGrantsParams) error {
	return listGrants(c, p.Limit, p.Cursor, project, space, s.use.ListSpaceGrants)
}

func (s spaceGrantHandlers) GetSpaceGrant(c echo.Context, project, space, consumer string, _ gen.GetSpaceGrantParams) error {
	return getGrant(c, project, space, consumer, s.use.GetSpaceGrant)
}

func (s spaceGrantHandlers) PutSpaceGrant(c echo.Context, project, space, consumer string, p gen.PutSpaceGrantParams) error {
	return putGrant(c, conditions{p.IfMatch, p.IfNoneMatch, p.DryRun}, project, space, consumer, s.use.PutSpaceGrant)
}

func (s spaceGrantHandlers) DeleteSpaceGrant(c echo.Context, project, space, consumer string, p gen.DeleteSpaceGrantParams) error {
	return deleteGrant(c, p.IfMatch, p.DryRun, project, space, consumer, s.use.DeleteSpaceGrant)
}

// The four functions below handle grants. The parameter of is the name of the pool or space that is granted.

func listGrants(c echo.Context, limit *int, cursor *string, project, of string,
	use func(ctx context.Context, project, of string, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Grant], error),
) error {
	return list(c, limit, cursor, project, func(ctx context.Context, project string, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Grant], error) {
		return use(ctx, project, of, limit, cursor, r)
	}, codec.GrantOf)
}

func getGrant(c echo.Context, project, of, consumer string, use func(ctx context.Context, project, of, consumer string) (ipam.Grant, error)) error {
	return get(c, project, consumer, func(ctx context.Context, project, consumer string) (ipam.Grant, error) {
		return use(ctx, project, of, consumer)
	}, codec.GrantOf)
}

func putGrant(c echo.Context, p conditions, project, of, consumer string,
	use func(ctx context.Context, project, of, consumer string, r usecase.Request) (usecase.Result[ipam.Grant], error),
) error {
	return putBare(c, p, func(ctx context.Context, r usecase.Request) (usecase.Result[ipam.Grant], error) {
		return use(ctx, project, of, consumer, r)
	}, codec.GrantOf)
}

func deleteGrant(c echo.Context, ifMatch *string, dryRun *bool, project, of, consumer string,
	use func(ctx context.Context, project, of, consumer string, r usecase.Request) error,
) error {
	return remove(c, ifMatch, dryRun, project, consumer, func(ctx context.Context, project, consumer string, r usecase.Request) error {
		return use(ctx, project, of, consumer, r)
	})
}

// quotaHandlers serves quotas.
type quotaHandlers struct {
	use     Quotas
	changes Changes
}

func (s quotaHandlers) ListQuotas(c echo.Context, project string, p gen.ListQuotasParams) error {
	return followed(c, s.changes, p.Limit, p.Cursor, project, s.use.ListQuotas, codec.QuotaOf)
}

func (s quotaHandlers) GetQuota(c echo.Context, project, quota string) error {
	return get(c, project, quota, s.use.GetQuota, codec.QuotaOf)
}

func (s quotaHandlers) PutQuota(c echo.Context, project, quota string, p gen.PutQuotaParams) error {
	return put(c, conditions{p.IfMatch, p.IfNoneMatch, p.DryRun}, project, quota, codec.PutQuota, s.use.PutQuota, codec.QuotaOf)
}

func (s quotaHandlers) DeleteQuota(c echo.Context, project, quota string, p gen.DeleteQuotaParams) error {
	return remove(c, p.IfMatch, p.DryRun, project, quota, s.use.DeleteQuota)
}
