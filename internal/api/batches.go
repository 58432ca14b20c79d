package api

import (
	"context"
	"strconv"

	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// CreateClaimBatch implements the operation; each claim is read as in CreateClaim, and what is wrong with one is said at
// its place in the batch.
func (s *server) CreateClaimBatch(ctx context.Context, r gen.CreateClaimBatchRequestObject) (gen.CreateClaimBatchResponseObject, error) {
	claims := make([]ipam.Claim, len(r.Body.Claims))
	for i, wire := range r.Body.Claims {
		claim, err := codec.NewClaim(r.Project, wire)
		if err != nil {
			return nil, codec.Within("/claims/"+strconv.Itoa(i), err)
		}
		claims[i] = claim
	}
	path := "/v1/projects/" + r.Project + "/claim-batches"
	req, err := creation("createClaimBatch", path, r.Body, r.Params.IdempotencyKey, r.Params.DryRun)
	if err != nil {
		return nil, err
	}
	made, err := s.use.CreateClaimBatch(ctx, r.Project, claims, req)
	if err != nil {
		return nil, err
	}
	return codec.ClaimsMade{CreateClaimBatch201JSONResponse: gen.CreateClaimBatch201JSONResponse{
		Body: gen.ClaimBatch{Claims: codec.Each(made.Value, codec.ClaimOf)},
		Headers: gen.CreateClaimBatch201ResponseHeaders{
			DryRun: marked(req.DryRun), IdempotencyReplayed: marked(made.Replayed),
		},
	}}, nil
}
