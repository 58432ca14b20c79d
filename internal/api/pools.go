package api

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (s *server) ListPools(ctx context.Context, r gen.ListPoolsRequestObject) (gen.ListPoolsResponseObject, error) {
	f, err := filterParams{
		labels: r.Params.LabelSelector, space: r.Params.Space, parent: r.Params.Parent, class: r.Params.Class,
		within: r.Params.Within, contains: r.Params.Contains,
	}.filter(r.Project)
	if err != nil {
		return nil, err
	}
	f.Phase, f.Family = string(codec.Or(r.Params.Phase, "")), ipam.Family(codec.Or(r.Params.IPFamily, ""))
	page, err := s.use.ListPools(ctx, r.Project, f, codec.Or(r.Params.Limit, defaultLimit), codec.Or(r.Params.Cursor, ""))
	if err != nil {
		return nil, err
	}
	now := s.clock()
	return gen.ListPools200JSONResponse{Body: gen.IPPoolList{Items: codec.Each(page.Items, func(p ipam.Pool) gen.IPPool { return codec.PoolOf(p, now) }), NextCursor: page.Next}}, nil
}

func (s *server) CreatePool(ctx context.Context, r gen.CreatePoolRequestObject) (gen.CreatePoolResponseObject, error) {
	meta, err := codec.NewMetadata(r.Body.Metadata)
	if err != nil {
		return nil, err
	}
	spec, err := codec.PoolSpec(r.Project, r.Body.Spec)
	if err != nil {
		return nil, err
	}
	path := "/v1/projects/" + r.Project + "/pools"
	req, err := creation("createPool", path, r.Body, r.Params.IdempotencyKey, r.Params.DryRun)
	if err != nil {
		return nil, err
	}
	made, err := s.use.CreatePool(ctx, r.Project, ipam.Pool{Metadata: meta, Spec: spec}, req)
	if err != nil {
		return nil, err
	}
	return gen.CreatePool201JSONResponse{
		Body: codec.PoolOf(made.Value, s.clock()),
		Headers: gen.CreatePool201ResponseHeaders{
			ETag: etag(made.Value.Revision), Location: path + "/" + made.Value.Name,
			DryRun: marked(req.DryRun), IdempotencyReplayed: marked(made.Replayed),
		},
	}, nil
}

func (s *server) GetPool(ctx context.Context, r gen.GetPoolRequestObject) (gen.GetPoolResponseObject, error) {
	p, err := s.use.GetPool(ctx, r.Project, r.Pool)
	if err != nil {
		return nil, err
	}
	return gen.GetPool200JSONResponse{Body: codec.PoolOf(p, s.clock()), Headers: gen.GetPool200ResponseHeaders{ETag: etag(p.Revision)}}, nil
}

func (s *server) GetPoolFree(ctx context.Context, r gen.GetPoolFreeRequestObject) (gen.GetPoolFreeResponseObject, error) {
	page, err := s.use.GetPoolFree(ctx, r.Project, r.Pool, r.Params.PrefixLength, codec.Or(r.Params.Limit, defaultLimit), codec.Or(r.Params.Cursor, ""))
	if err != nil {
		return nil, err
	}
	return gen.GetPoolFree200JSONResponse{Body: codec.PoolFreeOf(page)}, nil
}

func (s *server) PatchPool(ctx context.Context, r gen.PatchPoolRequestObject) (gen.PatchPoolResponseObject, error) {
	match, err := requiredMatch(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	var seen ipam.Pool
	if codec.Mentions(*r.Body, "status") { // somebody sends back what they read: compare it with what can be read now
		if seen, err = s.use.GetPool(ctx, r.Project, r.Pool); err != nil {
			return nil, err
		}
	}
	req := usecase.Request{IfMatch: match, DryRun: codec.Or(r.Params.DryRun, false)}
	p, err := s.use.PatchPool(ctx, r.Project, r.Pool, req, codec.PatchPool(*r.Body, seen))
	if err != nil {
		return nil, err
	}
	return gen.PatchPool200JSONResponse{
		Body:    codec.PoolOf(p, s.clock()),
		Headers: gen.PatchPool200ResponseHeaders{ETag: etag(p.Revision), DryRun: marked(req.DryRun)},
	}, nil
}

func (s *server) DeletePool(ctx context.Context, r gen.DeletePoolRequestObject) (gen.DeletePoolResponseObject, error) {
	req, err := deletion(r.Params.IfMatch, r.Params.DryRun)
	if err != nil {
		return nil, err
	}
	if err := s.use.DeletePool(ctx, r.Project, r.Pool, req); err != nil {
		return nil, err
	}
	return gen.DeletePool204Response{Headers: gen.DeletedResponseHeaders{DryRun: marked(req.DryRun)}}, nil
}
