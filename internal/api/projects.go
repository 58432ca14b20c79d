package api

import (
	"context"
	"encoding/json"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (s *server) ListProjects(c echo.Context, p gen.ListProjectsParams) error {
	f, err := filterParams{labels: p.LabelSelector}.filter("")
	if err != nil {
		return err
	}
	return list(c, p.Limit, p.Cursor, "", func(ctx context.Context, _ string, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Project], error) {
		return s.use.ListProjects(ctx, f, limit, cursor, r)
	}, codec.ProjectOf)
}

func (s *server) CreateProject(c echo.Context, p gen.CreateProjectParams) error {
	return create(c, post{key: p.IdempotencyKey, dryRun: p.DryRun}, codec.NewProject,
		func(ctx context.Context, _ string, made ipam.Project, r usecase.Request) (usecase.Result[ipam.Project], error) {
			return s.use.CreateProject(ctx, made, r)
		}, codec.ProjectOf)
}

func (s *server) GetProject(c echo.Context, project string, _ gen.GetProjectParams) error {
	return get(c, "", project, func(ctx context.Context, _, name string) (ipam.Project, error) { return s.use.GetProject(ctx, name) }, codec.ProjectOf)
}

func (s *server) PatchProject(c echo.Context, project string, p gen.PatchProjectParams) error {
	return patchBare(c, p.IfMatch, p.DryRun, func(ctx context.Context, body json.RawMessage, r usecase.Request) (ipam.Project, error) {
		return s.use.PatchProject(ctx, project, r, codec.PatchProject(body))
	}, codec.ProjectOf)
}

func (s *server) DeleteProject(c echo.Context, project string, p gen.DeleteProjectParams) error {
	return remove(c, p.IfMatch, p.DryRun, "", project, func(ctx context.Context, _, name string, r usecase.Request) error {
		return s.use.DeleteProject(ctx, name, r)
	})
}

func (s *server) ListSpaces(c echo.Context, project string, p gen.ListSpacesParams) error {
	f, err := filterParams{labels: p.LabelSelector}.filter(project)
	if err != nil {
		return err
	}
	return list(c, p.Limit, p.Cursor, project, withArgument(f, s.use.ListSpaces), codec.SpaceOf)
}

func (s *server) CreateSpace(c echo.Context, project string, p gen.CreateSpaceParams) error {
	return create(c, post{project: project, key: p.IdempotencyKey, dryRun: p.DryRun}, codec.NewSpace, s.use.CreateSpace, codec.SpaceOf)
}

func (s *server) GetSpace(c echo.Context, project, space string, _ gen.GetSpaceParams) error {
	return get(c, project, space, s.use.GetSpace, codec.SpaceOf)
}

func (s *server) PatchSpace(c echo.Context, project, space string, p gen.PatchSpaceParams) error {
	return patch(c, p.IfMatch, p.DryRun, project, space, codec.PatchSpace, s.use.PatchSpace, codec.SpaceOf)
}

func (s *server) DeleteSpace(c echo.Context, project, space string, p gen.DeleteSpaceParams) error {
	return remove(c, p.IfMatch, p.DryRun, project, space, s.use.DeleteSpace)
}
