package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/alloc/utilization"
	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// poolHandlers serves pools. It needs a clock because the status of a pool depends on the time.
type poolHandlers struct {
	use     Pools
	clock   func() time.Time
	changes Changes
}

func (s poolHandlers) show(p ipam.Pool) gen.IPPool { return codec.PoolOf(p, s.clock()) }

func (s poolHandlers) ListPools(c echo.Context, project string, p gen.ListPoolsParams) error {
	f, err := filterParams{
		labels: p.LabelSelector, space: p.Space, parent: p.Parent, class: p.Class, within: p.Within, contains: p.Contains,
	}.filter(project)
	if err != nil {
		return err
	}
	f.Phase, f.Family, f.Roots = string(codec.ValueOr(p.Phase, "")), ipam.Family(codec.ValueOr(p.IPFamily, "")), codec.ValueOr(p.Roots, false)
	f.Visibility = ipam.Visibility(codec.ValueOr(p.Visibility, ""))
	return followed(c, s.changes, p.Limit, p.Cursor, project, filtered(f, s.use.ListPools), s.show)
}

func (s poolHandlers) CreatePool(c echo.Context, project string, p gen.CreatePoolParams) error {
	return create(c, post{project: project, key: p.IdempotencyKey, dryRun: p.DryRun}, codec.NewPool, s.use.CreatePool, s.show)
}

func (s poolHandlers) GetPool(c echo.Context, project, pool string, _ gen.GetPoolParams) error {
	return get(c, project, pool, asAsked(c, s.use.GetPool), s.show)
}

func (s poolHandlers) GetPoolFree(c echo.Context, project, pool string, p gen.GetPoolFreeParams) error {
	page, err := s.use.GetPoolFree(c.Request().Context(), project, pool, p.PrefixLength, codec.ValueOr(p.Limit, defaultLimit), codec.ValueOr(p.Cursor, ""), readingOf(c))
	if err != nil {
		return err
	}
	free := codec.PoolFreeOf(page)
	return codec.Answer(c.Response(), http.StatusOK, &free)
}

// defaultPoints is the default number of points in a pool's utilization history.
const defaultPoints = 200

func (s poolHandlers) GetPoolUtilization(c echo.Context, project, pool string, p gen.GetPoolUtilizationParams) error {
	h, err := s.use.GetPoolUtilization(c.Request().Context(), project, pool, utilization.Asked{
		Since: codec.ValueOr(p.Since, time.Time{}), Until: codec.ValueOr(p.Until, time.Time{}), Points: codec.ValueOr(p.Points, defaultPoints),
	}, readingOf(c))
	if err != nil {
		return err
	}
	shown := codec.PoolUtilizationOf(h)
	return codec.Answer(c.Response(), http.StatusOK, &shown)
}

func (s poolHandlers) PatchPool(c echo.Context, project, pool string, p gen.PatchPoolParams) error {
	return patch(c, p.IfMatch, p.DryRun, func(ctx context.Context, body json.RawMessage, r usecase.Request) (_ ipam.Pool, err error) {
		var seen ipam.Pool
		// The caller may send back the status that it has read. PatchPool compares it with the current status.
		if codec.Mentions(body, "status") {
			if seen, err = s.use.GetPool(ctx, project, pool, usecase.Reading{}); err != nil {
				return seen, err
			}
		}
		return s.use.PatchPool(ctx, project, pool, r, codec.PatchPool(body, seen))
	}, s.show)
}

func (s poolHandlers) DeletePool(c echo.Context, project, pool string, p gen.DeletePoolParams) error {
	return remove(c, p.IfMatch, p.DryRun, project, pool, s.use.DeletePool)
}

// classHandlers serves classes.
type classHandlers struct {
	use     Classes
	changes Changes
}

func (s classHandlers) ListClasses(c echo.Context, project string, p gen.ListClassesParams) error {
	f, err := filterParams{labels: p.LabelSelector}.filter(project)
	if err != nil {
		return err
	}
	f.Family = ipam.Family(codec.ValueOr(p.IPFamily, ""))
	return followed(c, s.changes, p.Limit, p.Cursor, project, filtered(f, s.use.ListClasses), codec.ClassOf)
}

func (s classHandlers) CreateClass(c echo.Context, project string, p gen.CreateClassParams) error {
	asked, move := post{project: project, key: p.IdempotencyKey, dryRun: p.DryRun}, codec.ValueOr(p.MoveDefault, false)
	if move {
		asked.variant = "?moveDefault=true"
	}
	use := func(ctx context.Context, project string, made ipam.Class, r usecase.Request) (usecase.Result[ipam.Class], error) {
		return s.use.CreateClass(ctx, project, made, move, r)
	}
	return create(c, asked, codec.NewClass, use, codec.ClassOf)
}

func (s classHandlers) GetClass(c echo.Context, project, class string, _ gen.GetClassParams) error {
	return get(c, project, class, asAsked(c, s.use.GetClass), codec.ClassOf)
}

func (s classHandlers) PatchClass(c echo.Context, project, class string, p gen.PatchClassParams) error {
	return patch(c, p.IfMatch, p.DryRun, func(ctx context.Context, body json.RawMessage, r usecase.Request) (_ ipam.Class, err error) {
		var seen ipam.Class
		if codec.Mentions(body, "status") { // see PatchPool
			if seen, err = s.use.GetClass(ctx, project, class, usecase.Reading{}); err != nil {
				return seen, err
			}
		}
		return s.use.PatchClass(ctx, project, class, codec.ValueOr(p.MoveDefault, false), r, codec.PatchClass(body, seen.Status))
	}, codec.ClassOf)
}

func (s classHandlers) DeleteClass(c echo.Context, project, class string, p gen.DeleteClassParams) error {
	return remove(c, p.IfMatch, p.DryRun, project, class, s.use.DeleteClass)
}
