package api

import (
	"context"

	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (s *server) ListAllocations(ctx context.Context, r gen.ListAllocationsRequestObject) (gen.ListAllocationsResponseObject, error) {
	f, err := filterParams{
		pool: r.Params.Pool, class: r.Params.Class, within: r.Params.Within, contains: r.Params.Contains,
	}.filter(r.Project)
	if err != nil {
		return nil, err
	}
	f.Phase, f.Family = string(codec.Or(r.Params.Phase, "")), ipam.Family(codec.Or(r.Params.IPFamily, ""))
	f.Purpose, f.Own = ipam.Purpose(codec.Or(r.Params.Purpose, "")), codec.Or(r.Params.Holder, "") == gen.AllocationHolderSelf
	page, err := s.use.ListAllocations(ctx, r.Project, f, codec.Or(r.Params.Limit, defaultLimit), codec.Or(r.Params.Cursor, ""))
	if err != nil {
		return nil, err
	}
	return gen.ListAllocations200JSONResponse{Body: gen.IPAllocationList{Items: codec.Each(page.Items, codec.AllocationOf), NextCursor: page.Next}}, nil
}

func (s *server) GetAllocation(ctx context.Context, r gen.GetAllocationRequestObject) (gen.GetAllocationResponseObject, error) {
	a, err := s.use.GetAllocation(ctx, r.Project, r.Allocation)
	if err != nil {
		return nil, err
	}
	return gen.GetAllocation200JSONResponse{
		Body: codec.AllocationOf(a), Headers: gen.GetAllocation200ResponseHeaders{ETag: etag(a.Revision)},
	}, nil
}

func (s *server) DeleteAllocation(ctx context.Context, r gen.DeleteAllocationRequestObject) (gen.DeleteAllocationResponseObject, error) {
	req, err := deletion(r.Params.IfMatch, r.Params.DryRun)
	if err != nil {
		return nil, err
	}
	if err := s.use.DeleteAllocation(ctx, r.Project, r.Allocation, req); err != nil {
		return nil, err
	}
	return gen.DeleteAllocation204Response{Headers: gen.DeletedResponseHeaders{DryRun: marked(req.DryRun)}}, nil
}
