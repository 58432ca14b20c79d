package api

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (s *server) ListMembers(c echo.Context, project string, p gen.ListMembersParams) error {
	return list(c, p.Limit, p.Cursor, project, s.use.ListMembers, codec.MemberOf)
}

func (s *server) GetMember(c echo.Context, project, subject string, _ gen.GetMemberParams) error {
	return get(c, project, subject, s.use.GetMember, codec.MemberOf)
}

func (s *server) PutMember(c echo.Context, project, subject string, p gen.PutMemberParams) error {
	return put(c, conditions{p.IfMatch, p.IfNoneMatch, p.DryRun}, project, subject, codec.PutMember, s.use.PutMember, codec.MemberOf)
}

func (s *server) DeleteMember(c echo.Context, project, subject string, p gen.DeleteMemberParams) error {
	return remove(c, p.IfMatch, p.DryRun, project, subject, s.use.DeleteMember)
}

func (s *server) showKey(k ipam.APIKey) gen.APIKey { return codec.KeyOf(k, s.cfg.Clock()) }

func (s *server) ListAPIKeys(c echo.Context, project string, p gen.ListAPIKeysParams) error {
	return list(c, p.Limit, p.Cursor, project, s.use.ListKeys, s.showKey)
}

// CreateAPIKey returns the token once. Retries compare a fingerprint of the request body, and the body contains no secret.
func (s *server) CreateAPIKey(c echo.Context, project string, p gen.CreateAPIKeyParams) error {
	return create(c, post{project: project, key: p.IdempotencyKey, dryRun: p.DryRun}, codec.NewKey, s.use.CreateKey, func(k ipam.APIKey) gen.APIKey {
		shown := s.showKey(k)
		shown.Token = k.Token
		return shown
	})
}

func (s *server) GetAPIKey(c echo.Context, project, key string) error {
	return get(c, project, key, s.use.GetKey, s.showKey)
}

func (s *server) DeleteAPIKey(c echo.Context, project, key string, p gen.DeleteAPIKeyParams) error {
	return remove(c, p.IfMatch, p.DryRun, project, key, s.use.DeleteKey)
}

func (s *server) ListPoolGrants(c echo.Context, project, pool string, p gen.ListPoolGrantsParams) error {
	return list(c, p.Limit, p.Cursor, project, withArgument(pool, s.use.ListPoolGrants), codec.GrantOf)
}

func (s *server) GetPoolGrant(c echo.Context, project, pool, consumer string, _ gen.GetPoolGrantParams) error {
	return getGrant(c, project, pool, consumer, s.use.GetPoolGrant)
}

func (s *server) PutPoolGrant(c echo.Context, project, pool, consumer string, p gen.PutPoolGrantParams) error {
	return putGrant(c, conditions{p.IfMatch, p.IfNoneMatch, p.DryRun}, project, pool, consumer, s.use.PutPoolGrant)
}

func (s *server) DeletePoolGrant(c echo.Context, project, pool, consumer string, p gen.DeletePoolGrantParams) error {
	return deleteGrant(c, p.IfMatch, p.DryRun, project, pool, consumer, s.use.DeletePoolGrant)
}

func (s *server) ListSpaceGrants(c echo.Context, project, space string, p gen.ListSpaceGrantsParams) error {
	return list(c, p.Limit, p.Cursor, project, withArgument(space, s.use.ListSpaceGrants), codec.GrantOf)
}

func (s *server) GetSpaceGrant(c echo.Context, project, space, consumer string, _ gen.GetSpaceGrantParams) error {
	return getGrant(c, project, space, consumer, s.use.GetSpaceGrant)
}

func (s *server) PutSpaceGrant(c echo.Context, project, space, consumer string, p gen.PutSpaceGrantParams) error {
	return putGrant(c, conditions{p.IfMatch, p.IfNoneMatch, p.DryRun}, project, space, consumer, s.use.PutSpaceGrant)
}

func (s *server) DeleteSpaceGrant(c echo.Context, project, space, consumer string, p gen.DeleteSpaceGrantParams) error {
	return deleteGrant(c, p.IfMatch, p.DryRun, project, space, consumer, s.use.DeleteSpaceGrant)
}

// The three functions below handle grants. name is the name of the granted pool or space.

func getGrant(c echo.Context, project, name, consumer string, use func(ctx context.Context, project, name, consumer string) (ipam.Grant, error)) error {
	return get(c, project, consumer, func(ctx context.Context, project, consumer string) (ipam.Grant, error) {
		return use(ctx, project, name, consumer)
	}, codec.GrantOf)
}

func putGrant(c echo.Context, p conditions, project, name, consumer string,
	use func(ctx context.Context, project, name, consumer string, r usecase.Request) (usecase.Result[ipam.Grant], error),
) error {
	return putBare(c, p, func(ctx context.Context, r usecase.Request) (usecase.Result[ipam.Grant], error) {
		return use(ctx, project, name, consumer, r)
	}, codec.GrantOf)
}

func deleteGrant(c echo.Context, ifMatch *string, dryRun *bool, project, name, consumer string,
	use func(ctx context.Context, project, name, consumer string, r usecase.Request) error,
) error {
	return remove(c, ifMatch, dryRun, project, consumer, func(ctx context.Context, project, consumer string, r usecase.Request) error {
		return use(ctx, project, name, consumer, r)
	})
}

func (s *server) ListQuotas(c echo.Context, project string, p gen.ListQuotasParams) error {
	return listFollowed(c, s.use, p.Limit, p.Cursor, project, s.use.ListQuotas, codec.QuotaOf)
}

func (s *server) GetQuota(c echo.Context, project, quota string) error {
	return get(c, project, quota, s.use.GetQuota, codec.QuotaOf)
}

func (s *server) PutQuota(c echo.Context, project, quota string, p gen.PutQuotaParams) error {
	return put(c, conditions{p.IfMatch, p.IfNoneMatch, p.DryRun}, project, quota, codec.PutQuota, s.use.PutQuota, codec.QuotaOf)
}

func (s *server) DeleteQuota(c echo.Context, project, quota string, p gen.DeleteQuotaParams) error {
	return remove(c, p.IfMatch, p.DryRun, project, quota, s.use.DeleteQuota)
}
