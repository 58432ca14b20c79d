package api

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (s *server) ListProjects(ctx context.Context, r gen.ListProjectsRequestObject) (gen.ListProjectsResponseObject, error) {
	f, err := filterParams{labels: r.Params.LabelSelector}.filter("")
	if err != nil {
		return nil, err
	}
	page, err := s.use.ListProjects(ctx, f, codec.Or(r.Params.Limit, defaultLimit), codec.Or(r.Params.Cursor, ""))
	if err != nil {
		return nil, err
	}
	return gen.ListProjects200JSONResponse{Body: gen.ProjectList{Items: codec.Each(page.Items, codec.ProjectOf), NextCursor: page.Next}}, nil
}

func (s *server) CreateProject(ctx context.Context, r gen.CreateProjectRequestObject) (gen.CreateProjectResponseObject, error) {
	meta, err := codec.NewMetadata(r.Body.Metadata)
	if err != nil {
		return nil, err
	}
	req, err := creation("createProject", "/v1/projects", r.Body, r.Params.IdempotencyKey, r.Params.DryRun)
	if err != nil {
		return nil, err
	}
	made, err := s.use.CreateProject(ctx, ipam.Project{Metadata: meta, Spec: codec.ProjectSpec(codec.Or(r.Body.Spec, gen.ProjectSpec{}))}, req)
	if err != nil {
		return nil, err
	}
	return gen.CreateProject201JSONResponse{
		Body: codec.ProjectOf(made.Value),
		Headers: gen.CreateProject201ResponseHeaders{
			ETag: etag(made.Value.Revision), Location: "/v1/projects/" + made.Value.Name,
			DryRun: marked(req.DryRun), IdempotencyReplayed: marked(made.Replayed),
		},
	}, nil
}

func (s *server) GetProject(ctx context.Context, r gen.GetProjectRequestObject) (gen.GetProjectResponseObject, error) {
	p, err := s.use.GetProject(ctx, r.Project)
	if err != nil {
		return nil, err
	}
	return gen.GetProject200JSONResponse{Body: codec.ProjectOf(p), Headers: gen.GetProject200ResponseHeaders{ETag: etag(p.Revision)}}, nil
}

func (s *server) PatchProject(ctx context.Context, r gen.PatchProjectRequestObject) (gen.PatchProjectResponseObject, error) {
	match, err := requiredMatch(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	req := usecase.Request{IfMatch: match, DryRun: codec.Or(r.Params.DryRun, false)}
	p, err := s.use.PatchProject(ctx, r.Project, req, codec.PatchProject(*r.Body))
	if err != nil {
		return nil, err
	}
	return gen.PatchProject200JSONResponse{
		Body:    codec.ProjectOf(p),
		Headers: gen.PatchProject200ResponseHeaders{ETag: etag(p.Revision), DryRun: marked(req.DryRun)},
	}, nil
}

func (s *server) DeleteProject(ctx context.Context, r gen.DeleteProjectRequestObject) (gen.DeleteProjectResponseObject, error) {
	req, err := deletion(r.Params.IfMatch, r.Params.DryRun)
	if err != nil {
		return nil, err
	}
	if err := s.use.DeleteProject(ctx, r.Project, req); err != nil {
		return nil, err
	}
	return gen.DeleteProject204Response{Headers: gen.DeletedResponseHeaders{DryRun: marked(req.DryRun)}}, nil
}
