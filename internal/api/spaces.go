package api

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (s *server) ListSpaces(ctx context.Context, r gen.ListSpacesRequestObject) (gen.ListSpacesResponseObject, error) {
	f, err := filterParams{labels: r.Params.LabelSelector}.filter(r.Project)
	if err != nil {
		return nil, err
	}
	page, err := s.use.ListSpaces(ctx, r.Project, f, or(r.Params.Limit, defaultLimit), or(r.Params.Cursor, ""))
	if err != nil {
		return nil, err
	}
	return gen.ListSpaces200JSONResponse{Body: gen.SpaceList{Items: each(page.Items, spaceOf), NextCursor: page.Next}}, nil
}

func (s *server) CreateSpace(ctx context.Context, r gen.CreateSpaceRequestObject) (gen.CreateSpaceResponseObject, error) {
	meta, err := newMetadata(r.Body.Metadata)
	if err != nil {
		return nil, err
	}
	path := "/v1/projects/" + r.Project + "/spaces"
	req, err := creation("createSpace", path, r.Body, r.Params.IdempotencyKey, r.Params.DryRun)
	if err != nil {
		return nil, err
	}
	made, err := s.use.CreateSpace(ctx, r.Project, ipam.Space{Metadata: meta, Spec: spaceSpec(or(r.Body.Spec, gen.SpaceSpec{}))}, req)
	if err != nil {
		return nil, err
	}
	return gen.CreateSpace201JSONResponse{
		Body: spaceOf(made.Value),
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
	return gen.GetSpace200JSONResponse{Body: spaceOf(sp), Headers: gen.GetSpace200ResponseHeaders{ETag: etag(sp.Revision)}}, nil
}

func (s *server) PatchSpace(ctx context.Context, r gen.PatchSpaceRequestObject) (gen.PatchSpaceResponseObject, error) {
	match, err := requiredMatch(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	req := alloc.Request{IfMatch: match, DryRun: or(r.Params.DryRun, false)}
	sp, err := s.use.PatchSpace(ctx, r.Project, r.Space, req, patchSpace(*r.Body))
	if err != nil {
		return nil, err
	}
	return gen.PatchSpace200JSONResponse{
		Body:    spaceOf(sp),
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
