package api

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (s *server) ListSpaces(ctx context.Context, r gen.ListSpacesRequestObject) (gen.ListSpacesResponseObject, error) {
	f, err := filterParams{labels: r.Params.LabelSelector}.filter(r.Project)
	if err != nil {
		return nil, err
	}
	page, err := s.use.ListSpaces(ctx, r.Project, f, codec.Or(r.Params.Limit, defaultLimit), codec.Or(r.Params.Cursor, ""))
	if err != nil {
		return nil, err
	}
	return gen.ListSpaces200JSONResponse{Body: gen.SpaceList{Items: codec.Each(page.Items, codec.SpaceOf), NextCursor: page.Next}}, nil
}

func (s *server) CreateSpace(ctx context.Context, r gen.CreateSpaceRequestObject) (gen.CreateSpaceResponseObject, error) {
	meta, err := codec.NewMetadata(r.Body.Metadata)
	if err != nil {
		return nil, err
	}
	path := "/v1/projects/" + r.Project + "/spaces"
	req, err := creation("createSpace", path, r.Body, r.Params.IdempotencyKey, r.Params.DryRun)
	if err != nil {
		return nil, err
	}
	made, err := s.use.CreateSpace(ctx, r.Project, ipam.Space{Metadata: meta, Spec: codec.SpaceSpec(codec.Or(r.Body.Spec, gen.SpaceSpec{}))}, req)
	if err != nil {
		return nil, err
	}
	return gen.CreateSpace201JSONResponse{
		Body: codec.SpaceOf(made.Value),
		Headers: gen.CreateSpace201ResponseHeaders{
			ETag: etag(made.Value.Revision), Location: path + "/" + made.Value.Name,
			DryRun: marked(req.DryRun), IdempotencyReplayed: marked(made.Replayed),
		},
	}, nil
}

func (s *server) GetSpace(ctx context.Context, r gen.GetSpaceRequestObject) (gen.GetSpaceResponseObject, error) {
	sp, err := s.use.GetSpace(ctx, r.Project, r.Space)
	if err != nil {
		return nil, err
	}
	return gen.GetSpace200JSONResponse{Body: codec.SpaceOf(sp), Headers: gen.GetSpace200ResponseHeaders{ETag: etag(sp.Revision)}}, nil
}

func (s *server) PatchSpace(ctx context.Context, r gen.PatchSpaceRequestObject) (gen.PatchSpaceResponseObject, error) {
	match, err := requiredMatch(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	req := usecase.Request{IfMatch: match, DryRun: codec.Or(r.Params.DryRun, false)}
	sp, err := s.use.PatchSpace(ctx, r.Project, r.Space, req, codec.PatchSpace(*r.Body))
	if err != nil {
		return nil, err
	}
	return gen.PatchSpace200JSONResponse{
		Body:    codec.SpaceOf(sp),
		Headers: gen.PatchSpace200ResponseHeaders{ETag: etag(sp.Revision), DryRun: marked(req.DryRun)},
	}, nil
}

func (s *server) DeleteSpace(ctx context.Context, r gen.DeleteSpaceRequestObject) (gen.DeleteSpaceResponseObject, error) {
	req, err := deletion(r.Params.IfMatch, r.Params.DryRun)
	if err != nil {
		return nil, err
	}
	if err := s.use.DeleteSpace(ctx, r.Project, r.Space, req); err != nil {
		return nil, err
	}
	return gen.DeleteSpace204Response{Headers: gen.DeletedResponseHeaders{DryRun: marked(req.DryRun)}}, nil
}
