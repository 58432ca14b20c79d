package api

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (s *server) ListClaims(ctx context.Context, r gen.ListClaimsRequestObject) (gen.ListClaimsResponseObject, error) {
	f, err := filterParams{
		labels: r.Params.LabelSelector, pool: r.Params.Pool, class: r.Params.Class,
		within: r.Params.Within, contains: r.Params.Contains,
	}.filter(r.Project)
	if err != nil {
		return nil, err
	}
	f.Phase, f.Family = string(codec.Or(r.Params.Phase, "")), ipam.Family(codec.Or(r.Params.IPFamily, ""))
	page, err := s.use.ListClaims(ctx, r.Project, f, codec.Or(r.Params.Limit, defaultLimit), codec.Or(r.Params.Cursor, ""))
	if err != nil {
		return nil, err
	}
	return codec.ClaimsRead{ListClaims200JSONResponse: gen.ListClaims200JSONResponse{Body: gen.IPClaimList{Items: codec.Each(page.Items, codec.ClaimOf), NextCursor: page.Next}}}, nil
}

func (s *server) CreateClaim(ctx context.Context, r gen.CreateClaimRequestObject) (gen.CreateClaimResponseObject, error) {
	claim, err := codec.NewClaim(r.Project, *r.Body)
	if err != nil {
		return nil, err
	}
	req, err := creation("createClaim", claimsPath(r.Project), r.Body, r.Params.IdempotencyKey, r.Params.DryRun)
	if err != nil {
		return nil, err
	}
	made, err := s.use.CreateClaim(ctx, r.Project, claim, req)
	if err != nil {
		return nil, err
	}
	return codec.ClaimMade{CreateClaim201JSONResponse: gen.CreateClaim201JSONResponse{
		Body: codec.ClaimOf(made.Value),
		Headers: gen.CreateClaim201ResponseHeaders{
			ETag: etag(made.Value.Revision), Location: claimsPath(r.Project) + "/" + made.Value.Name,
			DryRun: marked(req.DryRun), IdempotencyReplayed: marked(made.Replayed),
		},
	}}, nil
}

func claimsPath(project string) string { return "/v1/projects/" + project + "/claims" }

func (s *server) GetClaim(ctx context.Context, r gen.GetClaimRequestObject) (gen.GetClaimResponseObject, error) {
	c, err := s.use.GetClaim(ctx, r.Project, r.Claim)
	if err != nil {
		return nil, err
	}
	return codec.ClaimRead{GetClaim200JSONResponse: gen.GetClaim200JSONResponse{Body: codec.ClaimOf(c), Headers: gen.GetClaim200ResponseHeaders{ETag: etag(c.Revision)}}}, nil
}

func (s *server) PutClaim(ctx context.Context, r gen.PutClaimRequestObject) (gen.PutClaimResponseObject, error) {
	meta := codec.Or(r.Body.Metadata, gen.PutMetadata{})
	if meta.Name != "" && meta.Name != r.Claim {
		return nil, ipam.Invalid("/metadata/name", "is not the name in the path; leave it out.")
	}
	spec, err := codec.ClaimSpec(r.Project, r.Body.Spec)
	if err != nil {
		return nil, err
	}
	claim := ipam.Claim{Metadata: ipam.Metadata{Name: r.Claim, Labels: meta.Labels, Annotations: meta.Annotations}, Spec: spec}
	req, err := putting(r.Params.IfMatch, r.Params.IfNoneMatch, r.Params.DryRun)
	if err != nil {
		return nil, err
	}
	made, err := s.use.PutClaim(ctx, r.Project, claim, req)
	if err != nil {
		return nil, err
	}
	body, tag := codec.ClaimOf(made.Value), etag(made.Value.Revision)
	if made.Existed {
		return gen.PutClaim200JSONResponse{Body: body, Headers: gen.PutClaim200ResponseHeaders{ETag: tag, DryRun: marked(req.DryRun)}}, nil
	}
	return gen.PutClaim201JSONResponse{
		Body: body,
		Headers: gen.PutClaim201ResponseHeaders{
			ETag: tag, Location: claimsPath(r.Project) + "/" + made.Value.Name, DryRun: marked(req.DryRun),
		},
	}, nil
}

func (s *server) PatchClaim(ctx context.Context, r gen.PatchClaimRequestObject) (gen.PatchClaimResponseObject, error) {
	match, err := requiredMatch(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	req := usecase.Request{IfMatch: match, DryRun: codec.Or(r.Params.DryRun, false)}
	c, err := s.use.PatchClaim(ctx, r.Project, r.Claim, req, codec.PatchClaim(*r.Body))
	if err != nil {
		return nil, err
	}
	return gen.PatchClaim200JSONResponse{
		Body:    codec.ClaimOf(c),
		Headers: gen.PatchClaim200ResponseHeaders{ETag: etag(c.Revision), DryRun: marked(req.DryRun)},
	}, nil
}

func (s *server) DeleteClaim(ctx context.Context, r gen.DeleteClaimRequestObject) (gen.DeleteClaimResponseObject, error) {
	req, err := deletion(r.Params.IfMatch, r.Params.DryRun)
	if err != nil {
		return nil, err
	}
	if err := s.use.DeleteClaim(ctx, r.Project, r.Claim, req); err != nil {
		return nil, err
	}
	return gen.DeleteClaim204Response{Headers: gen.DeletedResponseHeaders{DryRun: marked(req.DryRun)}}, nil
}
