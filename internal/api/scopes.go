package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (s *server) ListScopePools(c echo.Context, project, class string, p gen.ListScopePoolsParams) error {
	return list(c, p.Limit, p.Cursor, project, withArgument(class, s.use.ListScopePools), s.showPool)
}

func (s *server) GetScopePool(c echo.Context, project, class, scope string) error {
	values, err := ipam.ParseScope("path:scope", scope)
	if err != nil {
		return err
	}
	p, err := s.use.GetScopePool(c.Request().Context(), project, class, values)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, p, s.showPool)
}

func (s *server) PutScopePool(c echo.Context, project, class, scope string, p gen.PutScopePoolParams) error {
	values, err := ipam.ParseScope("path:scope", scope)
	if err != nil {
		return err
	}
	r, err := conditions{p.IfMatch, p.IfNoneMatch, p.DryRun}.request()
	if err != nil {
		return err
	}
	made, err := s.use.PutScopePool(c.Request().Context(), project, class, values, r)
	if err != nil {
		return err
	}
	return answerPut(c, r, made, c.Request().URL.EscapedPath(), s.showPool)
}
