package api

import (
	"context"
	"encoding/json"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/alloc/utilization"
	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (s *server) showPool(p ipam.Pool) gen.IPPool { return codec.PoolOf(p, s.cfg.Clock()) }

func (s *server) ListPools(c echo.Context, project string, p gen.ListPoolsParams) error {
	f, err := filterParams{
		labels: p.LabelSelector, space: p.Space, parent: p.Parent, class: p.Class, within: p.Within, contains: p.Contains,
	}.filter(project)
	if err != nil {
		return err
	}
	f.Phase, f.Family, f.Roots = string(value(p.Phase)), ipam.Family(value(p.IPFamily)), value(p.Roots)
	f.Visibility = ipam.Visibility(value(p.Visibility))
	return listFollowed(c, s.use, p.Limit, p.Cursor, project, withArgument(f, s.use.ListPools), s.showPool)
}

func (s *server) CreatePool(c echo.Context, project string, p gen.CreatePoolParams) error {
	return create(c, post{project: project, key: p.IdempotencyKey, dryRun: p.DryRun}, codec.NewPool, s.use.CreatePool, s.showPool)
}

func (s *server) GetPool(c echo.Context, project, pool string, _ gen.GetPoolParams) error {
	return get(c, project, pool, withConsistency(c, s.use.GetPool), s.showPool)
}

func (s *server) GetPoolFree(c echo.Context, project, pool string, p gen.GetPoolFreeParams) error {
	page, err := s.use.GetPoolFree(c.Request().Context(), project, pool, p.PrefixLength, codec.ValueOr(p.Limit, defaultLimit), value(p.Cursor), readingOf(c))
	return reply(c, page, err, codec.PoolFreeOf)
}

// defaultPoints is the default length of a pool's utilization history.
const defaultPoints = 200

func (s *server) GetPoolUtilization(c echo.Context, project, pool string, p gen.GetPoolUtilizationParams) error {
	h, err := s.use.GetPoolUtilization(c.Request().Context(), project, pool, utilization.Query{
		Since: value(p.Since), Until: value(p.Until), Points: codec.ValueOr(p.Points, defaultPoints),
	}, readingOf(c))
	return reply(c, h, err, codec.PoolUtilizationOf)
}

func (s *server) PatchPool(c echo.Context, project, pool string, p gen.PatchPoolParams) error {
	return patchBare(c, p.IfMatch, p.DryRun, func(ctx context.Context, body json.RawMessage, r usecase.Request) (_ ipam.Pool, err error) {
		var seen ipam.Pool
		// The caller may send back the status that it has read, and codec.PatchPool compares it with the current status.
		if codec.Mentions(body, "status") {
			if seen, err = s.use.GetPool(ctx, project, pool, usecase.Reading{}); err != nil {
				return seen, err
			}
		}
		return s.use.PatchPool(ctx, project, pool, r, codec.PatchPool(body, seen))
	}, s.showPool)
}

func (s *server) DeletePool(c echo.Context, project, pool string, p gen.DeletePoolParams) error {
	return remove(c, p.IfMatch, p.DryRun, project, pool, s.use.DeletePool)
}

func (s *server) ListClasses(c echo.Context, project string, p gen.ListClassesParams) error {
	f, err := filterParams{labels: p.LabelSelector}.filter(project)
	if err != nil {
		return err
	}
	f.Family = ipam.Family(value(p.IPFamily))
	return listFollowed(c, s.use, p.Limit, p.Cursor, project, withArgument(f, s.use.ListClasses), codec.ClassOf)
}

func (s *server) CreateClass(c echo.Context, project string, p gen.CreateClassParams) error {
	asked, move := post{project: project, key: p.IdempotencyKey, dryRun: p.DryRun}, value(p.MoveDefault)
	if move {
		asked.variant = "?moveDefault=true"
	}
	use := func(ctx context.Context, project string, made ipam.Class, r usecase.Request) (usecase.Result[ipam.Class], error) {
		return s.use.CreateClass(ctx, project, made, move, r)
	}
	return create(c, asked, codec.NewClass, use, codec.ClassOf)
}

func (s *server) GetClass(c echo.Context, project, class string, _ gen.GetClassParams) error {
	return get(c, project, class, withConsistency(c, s.use.GetClass), codec.ClassOf)
}

func (s *server) PatchClass(c echo.Context, project, class string, p gen.PatchClassParams) error {
	return patchBare(c, p.IfMatch, p.DryRun, func(ctx context.Context, body json.RawMessage, r usecase.Request) (_ ipam.Class, err error) {
		var seen ipam.Class
		if codec.Mentions(body, "status") { // see PatchPool
			if seen, err = s.use.GetClass(ctx, project, class, usecase.Reading{}); err != nil {
				return seen, err
			}
		}
		return s.use.PatchClass(ctx, project, class, value(p.MoveDefault), r, codec.PatchClass(body, seen.Status))
	}, codec.ClassOf)
}

func (s *server) DeleteClass(c echo.Context, project, class string, p gen.DeleteClassParams) error {
	return remove(c, p.IfMatch, p.DryRun, project, class, s.use.DeleteClass)
}
