package api

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/contract"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// scopeHandlers serves the pools that scoped classes create, one for each scope.
type scopeHandlers struct {
	use   Claims
	clock func() time.Time
}

func (s scopeHandlers) show(p ipam.Pool) gen.IPPool { return codec.PoolOf(p, s.clock()) }

func (s scopeHandlers) ListScopePools(c echo.Context, project, class string, p gen.ListScopePoolsParams) error {
	return list(c, p.Limit, p.Cursor, project,
		func(ctx context.Context, project string, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Pool], error) {
			return s.use.ListScopePools(ctx, project, class, limit, cursor, r)
		}, s.show)
}

func (s scopeHandlers) GetScopePool(c echo.Context, project, class, scope string) error {
	values, err := ipam.ParseScope("path:scope", scope)
	if err != nil {
		return err
	}
	p, err := s.use.GetScopePool(c.Request().Context(), project, class, values)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, p, s.show)
}

func (s scopeHandlers) PutScopePool(c echo.Context, project, class, scope string, p gen.PutScopePoolParams) error {
	values, err := ipam.ParseScope("path:scope", scope)
	if err != nil {
		return err
	}
	match, err := parseMatch(contract.IfMatch, p.IfMatch)
	if err != nil {
		return err
	}
	r := usecase.Request{IfMatch: match, CreateOnly: p.IfNoneMatch != nil, DryRun: codec.ValueOr(p.DryRun, false)}
	made, err := s.use.PutScopePool(c.Request().Context(), project, class, values, r)
	if err != nil {
		return err
	}
	mark(c, r.DryRun, false)
	if made.Existed {
		return answer(c, http.StatusOK, made.Value, s.show)
	}
	locate(c, c.Request().URL.EscapedPath())
	return answer(c, http.StatusCreated, made.Value, s.show)
}
