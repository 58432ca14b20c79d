package api

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (s *server) ListClasses(ctx context.Context, r gen.ListClassesRequestObject) (gen.ListClassesResponseObject, error) {
	f, err := filterParams{labels: r.Params.LabelSelector}.filter(r.Project)
	if err != nil {
		return nil, err
	}
	f.Family = ipam.Family(codec.Or(r.Params.IPFamily, ""))
	page, err := s.use.ListClasses(ctx, r.Project, f, codec.Or(r.Params.Limit, defaultLimit), codec.Or(r.Params.Cursor, ""))
	if err != nil {
		return nil, err
	}
	return gen.ListClasses200JSONResponse{Body: gen.IPClassList{Items: codec.Each(page.Items, codec.ClassOf), NextCursor: page.Next}}, nil
}

func (s *server) CreateClass(ctx context.Context, r gen.CreateClassRequestObject) (gen.CreateClassResponseObject, error) {
	meta, err := codec.NewMetadata(r.Body.Metadata)
	if err != nil {
		return nil, err
	}
	spec, err := codec.ClassSpec(r.Body.Spec)
	if err != nil {
		return nil, err
	}
	path, move := "/v1/projects/"+r.Project+"/classes", codec.Or(r.Params.MoveDefault, false)
	asked := path
	if move { // it makes another request of the same body
		asked += "?moveDefault=true"
	}
	req, err := creation("createClass", asked, r.Body, r.Params.IdempotencyKey, r.Params.DryRun)
	if err != nil {
		return nil, err
	}
	made, err := s.use.CreateClass(ctx, r.Project, ipam.Class{Metadata: meta, Spec: spec}, move, req)
	if err != nil {
		return nil, err
	}
	return gen.CreateClass201JSONResponse{
		Body: codec.ClassOf(made.Value),
		Headers: gen.CreateClass201ResponseHeaders{
			ETag: etag(made.Value.Revision), Location: path + "/" + made.Value.Name,
			DryRun: marked(req.DryRun), IdempotencyReplayed: marked(made.Replayed),
		},
	}, nil
}

func (s *server) GetClass(ctx context.Context, r gen.GetClassRequestObject) (gen.GetClassResponseObject, error) {
	c, err := s.use.GetClass(ctx, r.Project, r.Class)
	if err != nil {
		return nil, err
	}
	return gen.GetClass200JSONResponse{Body: codec.ClassOf(c), Headers: gen.GetClass200ResponseHeaders{ETag: etag(c.Revision)}}, nil
}

func (s *server) PatchClass(ctx context.Context, r gen.PatchClassRequestObject) (gen.PatchClassResponseObject, error) {
	match, err := requiredMatch(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	var status ipam.ClassStatus
	if codec.Mentions(*r.Body, "status") { // as in PatchPool
		seen, err := s.use.GetClass(ctx, r.Project, r.Class)
		if err != nil {
			return nil, err
		}
		status = seen.Status
	}
	req := usecase.Request{IfMatch: match, DryRun: codec.Or(r.Params.DryRun, false)}
	c, err := s.use.PatchClass(ctx, r.Project, r.Class, codec.Or(r.Params.MoveDefault, false), req, codec.PatchClass(*r.Body, status))
	if err != nil {
		return nil, err
	}
	return gen.PatchClass200JSONResponse{
		Body:    codec.ClassOf(c),
		Headers: gen.PatchClass200ResponseHeaders{ETag: etag(c.Revision), DryRun: marked(req.DryRun)},
	}, nil
}

func (s *server) DeleteClass(ctx context.Context, r gen.DeleteClassRequestObject) (gen.DeleteClassResponseObject, error) {
	req, err := deletion(r.Params.IfMatch, r.Params.DryRun)
	if err != nil {
		return nil, err
	}
	if err := s.use.DeleteClass(ctx, r.Project, r.Class, req); err != nil {
		return nil, err
	}
	return gen.DeleteClass204Response{Headers: gen.DeletedResponseHeaders{DryRun: marked(req.DryRun)}}, nil
}
