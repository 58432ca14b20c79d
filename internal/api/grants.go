package api

import (
	"context"

	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
)

// grantPath is the path of a grant of one of a project's pools or spaces, as kind says. A consumer is a name or *: nothing to
// escape.
func grantPath(project, kind, name, consumer string) string {
	return "/v1/projects/" + project + "/" + kind + "/" + name + "/grants/" + consumer
}

func (s *server) ListPoolGrants(ctx context.Context, r gen.ListPoolGrantsRequestObject) (gen.ListPoolGrantsResponseObject, error) {
	page, err := s.use.ListPoolGrants(ctx, r.Project, r.Pool, codec.Or(r.Params.Limit, defaultLimit), codec.Or(r.Params.Cursor, ""))
	if err != nil {
		return nil, err
	}
	return gen.ListPoolGrants200JSONResponse{Body: gen.GrantList{Items: codec.Each(page.Items, codec.GrantOf), NextCursor: page.Next}}, nil
}

func (s *server) GetPoolGrant(ctx context.Context, r gen.GetPoolGrantRequestObject) (gen.GetPoolGrantResponseObject, error) {
	g, err := s.use.GetPoolGrant(ctx, r.Project, r.Pool, r.Consumer)
	if err != nil {
		return nil, err
	}
	return gen.GetPoolGrant200JSONResponse{Body: codec.GrantOf(g), Headers: gen.GetPoolGrant200ResponseHeaders{ETag: etag(g.Revision)}}, nil
}

func (s *server) PutPoolGrant(ctx context.Context, r gen.PutPoolGrantRequestObject) (gen.PutPoolGrantResponseObject, error) {
	req, err := putting(r.Params.IfMatch, r.Params.IfNoneMatch, r.Params.DryRun)
	if err != nil {
		return nil, err
	}
	made, err := s.use.PutPoolGrant(ctx, r.Project, r.Pool, r.Consumer, req)
	if err != nil {
		return nil, err
	}
	body, tag := codec.GrantOf(made.Value), etag(made.Value.Revision)
	if made.Existed {
		return gen.PutPoolGrant200JSONResponse{
			Body: body, Headers: gen.PutPoolGrant200ResponseHeaders{ETag: tag, DryRun: marked(req.DryRun)},
		}, nil
	}
	return gen.PutPoolGrant201JSONResponse{
		Body: body,
		Headers: gen.PutPoolGrant201ResponseHeaders{
			ETag: tag, Location: grantPath(r.Project, "pools", r.Pool, made.Value.Name), DryRun: marked(req.DryRun),
		},
	}, nil
}

func (s *server) DeletePoolGrant(ctx context.Context, r gen.DeletePoolGrantRequestObject) (gen.DeletePoolGrantResponseObject, error) {
	req, err := deletion(r.Params.IfMatch, r.Params.DryRun)
	if err != nil {
		return nil, err
	}
	if err := s.use.DeletePoolGrant(ctx, r.Project, r.Pool, r.Consumer, req); err != nil {
		return nil, err
	}
	return gen.DeletePoolGrant204Response{Headers: gen.DeletedResponseHeaders{DryRun: marked(req.DryRun)}}, nil
}

func (s *server) ListSpaceGrants(ctx context.Context, r gen.ListSpaceGrantsRequestObject) (gen.ListSpaceGrantsResponseObject, error) {
	page, err := s.use.ListSpaceGrants(ctx, r.Project, r.Space, codec.Or(r.Params.Limit, defaultLimit), codec.Or(r.Params.Cursor, ""))
	if err != nil {
		return nil, err
	}
	return gen.ListSpaceGrants200JSONResponse{Body: gen.GrantList{Items: codec.Each(page.Items, codec.GrantOf), NextCursor: page.Next}}, nil
}

func (s *server) GetSpaceGrant(ctx context.Context, r gen.GetSpaceGrantRequestObject) (gen.GetSpaceGrantResponseObject, error) {
	g, err := s.use.GetSpaceGrant(ctx, r.Project, r.Space, r.Consumer)
	if err != nil {
		return nil, err
	}
	return gen.GetSpaceGrant200JSONResponse{Body: codec.GrantOf(g), Headers: gen.GetSpaceGrant200ResponseHeaders{ETag: etag(g.Revision)}}, nil
}

func (s *server) PutSpaceGrant(ctx context.Context, r gen.PutSpaceGrantRequestObject) (gen.PutSpaceGrantResponseObject, error) {
	req, err := putting(r.Params.IfMatch, r.Params.IfNoneMatch, r.Params.DryRun)
	if err != nil {
		return nil, err
	}
	made, err := s.use.PutSpaceGrant(ctx, r.Project, r.Space, r.Consumer, req)
	if err != nil {
		return nil, err
	}
	body, tag := codec.GrantOf(made.Value), etag(made.Value.Revision)
	if made.Existed {
		return gen.PutSpaceGrant200JSONResponse{
			Body: body, Headers: gen.PutSpaceGrant200ResponseHeaders{ETag: tag, DryRun: marked(req.DryRun)},
		}, nil
	}
	return gen.PutSpaceGrant201JSONResponse{
		Body: body,
		Headers: gen.PutSpaceGrant201ResponseHeaders{
			ETag: tag, Location: grantPath(r.Project, "spaces", r.Space, made.Value.Name), DryRun: marked(req.DryRun),
		},
	}, nil
}

func (s *server) DeleteSpaceGrant(ctx context.Context, r gen.DeleteSpaceGrantRequestObject) (gen.DeleteSpaceGrantResponseObject, error) {
	req, err := deletion(r.Params.IfMatch, r.Params.DryRun)
	if err != nil {
		return nil, err
	}
	if err := s.use.DeleteSpaceGrant(ctx, r.Project, r.Space, r.Consumer, req); err != nil {
		return nil, err
	}
	return gen.DeleteSpaceGrant204Response{Headers: gen.DeletedResponseHeaders{DryRun: marked(req.DryRun)}}, nil
}
