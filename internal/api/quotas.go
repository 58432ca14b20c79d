package api

import (
	"context"

	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (s *server) ListQuotas(ctx context.Context, r gen.ListQuotasRequestObject) (gen.ListQuotasResponseObject, error) {
	page, err := s.use.ListQuotas(ctx, r.Project, codec.Or(r.Params.Limit, defaultLimit), codec.Or(r.Params.Cursor, ""))
	if err != nil {
		return nil, err
	}
	return gen.ListQuotas200JSONResponse{Body: gen.QuotaList{Items: codec.Each(page.Items, codec.QuotaOf), NextCursor: page.Next}}, nil
}

func (s *server) GetQuota(ctx context.Context, r gen.GetQuotaRequestObject) (gen.GetQuotaResponseObject, error) {
	q, err := s.use.GetQuota(ctx, r.Project, r.Quota)
	if err != nil {
		return nil, err
	}
	return gen.GetQuota200JSONResponse{Body: codec.QuotaOf(q), Headers: gen.GetQuota200ResponseHeaders{ETag: etag(q.Revision)}}, nil
}

func (s *server) PutQuota(ctx context.Context, r gen.PutQuotaRequestObject) (gen.PutQuotaResponseObject, error) {
	req, err := putting(r.Params.IfMatch, r.Params.IfNoneMatch, r.Params.DryRun)
	if err != nil {
		return nil, err
	}
	spec, err := codec.QuotaSpec(r.Project, r.Body.Spec)
	if err != nil {
		return nil, err
	}
	made, err := s.use.PutQuota(ctx, r.Project, ipam.Quota{Metadata: ipam.Metadata{Name: r.Quota}, Spec: spec}, req)
	if err != nil {
		return nil, err
	}
	body, tag := codec.QuotaOf(made.Value), etag(made.Value.Revision)
	if made.Existed {
		return gen.PutQuota200JSONResponse{Body: body, Headers: gen.PutQuota200ResponseHeaders{ETag: tag, DryRun: marked(req.DryRun)}}, nil
	}
	return gen.PutQuota201JSONResponse{
		Body: body,
		Headers: gen.PutQuota201ResponseHeaders{
			ETag: tag, Location: "/v1/projects/" + r.Project + "/quotas/" + made.Value.Name, DryRun: marked(req.DryRun),
		},
	}, nil
}

func (s *server) DeleteQuota(ctx context.Context, r gen.DeleteQuotaRequestObject) (gen.DeleteQuotaResponseObject, error) {
	req, err := deletion(r.Params.IfMatch, r.Params.DryRun)
	if err != nil {
		return nil, err
	}
	if err := s.use.DeleteQuota(ctx, r.Project, r.Quota, req); err != nil {
		return nil, err
	}
	return gen.DeleteQuota204Response{Headers: gen.DeletedResponseHeaders{DryRun: marked(req.DryRun)}}, nil
}
