package api

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (s *server) ListClasses(ctx context.Context, r gen.ListClassesRequestObject) (gen.ListClassesResponseObject, error) {
	f, err := filterParams{labels: r.Params.LabelSelector}.filter(r.Project)
	if err != nil {
		return nil, err
	}
	f.Family = ipam.Family(or(r.Params.IPFamily, ""))
	page, err := s.use.ListClasses(ctx, r.Project, f, or(r.Params.Limit, defaultLimit), or(r.Params.Cursor, ""))
	if err != nil {
		return nil, err
	}
	return gen.ListClasses200JSONResponse{Body: gen.IPClassList{Items: each(page.Items, classOf), NextCursor: page.Next}}, nil
}

func (s *server) CreateClass(ctx context.Context, r gen.CreateClassRequestObject) (gen.CreateClassResponseObject, error) {
	meta, err := newMetadata(r.Body.Metadata)
	if err != nil {
		return nil, err
	}
	spec, err := classSpec(r.Body.Spec)
	if err != nil {
		return nil, err
	}
	path, move := "/v1/projects/"+r.Project+"/classes", or(r.Params.MoveDefault, false)
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
		Body: classOf(made.Value),
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
	return gen.GetClass200JSONResponse{Body: classOf(c), Headers: gen.GetClass200ResponseHeaders{ETag: etag(c.Revision)}}, nil
}

func (s *server) PatchClass(ctx context.Context, r gen.PatchClassRequestObject) (gen.PatchClassResponseObject, error) {
	match, err := requiredMatch(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	var status ipam.ClassStatus
	if mentions(*r.Body, "status") { // as in PatchPool
		seen, err := s.use.GetClass(ctx, r.Project, r.Class)
		if err != nil {
			return nil, err
		}
		status = seen.Status
	}
	req := alloc.Request{IfMatch: match, DryRun: or(r.Params.DryRun, false)}
	c, err := s.use.PatchClass(ctx, r.Project, r.Class, or(r.Params.MoveDefault, false), req, patchClass(*r.Body, status))
	if err != nil {
		return nil, err
	}
	return gen.PatchClass200JSONResponse{
		Body:    classOf(c),
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
