package api

import (
	"context"

	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// ExplainClaim implements the operation: a claim that would be refused is answered with 200 as well, since the refusal is the answer.
func (s *server) ExplainClaim(ctx context.Context, r gen.ExplainClaimRequestObject) (gen.ExplainClaimResponseObject, error) {
	spec, err := codec.ClaimSpec(r.Project, r.Body.Spec)
	if err != nil {
		return nil, err
	}
	x, err := s.use.ExplainClaim(ctx, r.Project, ipam.Claim{Spec: spec})
	if err != nil {
		return nil, err
	}
	return gen.ExplainClaim200JSONResponse(codec.ExplanationOf(spec, x)), nil
}
