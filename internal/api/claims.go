package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// claimHandlers serves claims.
type claimHandlers struct{ use Claims }

func (s claimHandlers) ListClaims(c echo.Context, project string, p gen.ListClaimsParams) error {
	f, err := filterParams{labels: p.LabelSelector, pool: p.Pool, class: p.Class, within: p.Within, contains: p.Contains}.filter(project)
	if err != nil {
		return err
	}
	f.Phase, f.Family = string(codec.Or(p.Phase, "")), ipam.Family(codec.Or(p.IPFamily, ""))
	if p.Consumer != nil {
		f.Consumer = codec.ConsumerRef(codec.Or(p.Realm, ""), *p.Consumer)
	}
	return list(c, p.Limit, p.Cursor, project, filtered(f, s.use.ListClaims), codec.ClaimOf)
}

func (s claimHandlers) CreateClaim(c echo.Context, project string, p gen.CreateClaimParams) error {
	return create(c, post{project: project, key: p.IdempotencyKey, dryRun: p.DryRun}, codec.NewClaim, s.use.CreateClaim, codec.ClaimOf)
}

// CreateClaimBatch implements the operation; each claim is read as in CreateClaim.
func (s claimHandlers) CreateClaimBatch(c echo.Context, project string, p gen.CreateClaimBatchParams) error {
	var body gen.ClaimBatchCreate
	if err := c.Bind(&body); err != nil {
		return err
	}
	asked, err := codec.NewClaims(project, body)
	if err != nil {
		return err
	}
	r, err := post{key: p.IdempotencyKey, dryRun: p.DryRun}.creation(c, &body)
	if err != nil {
		return err
	}
	made, err := s.use.CreateClaimBatch(c.Request().Context(), project, asked, r)
	if err != nil {
		return err
	}
	mark(c, r.DryRun, made.Replayed)
	return codec.Answer(c.Response(), http.StatusCreated, &gen.ClaimBatch{Claims: codec.Each(made.Value, codec.ClaimOf)})
}

func (s claimHandlers) GetClaim(c echo.Context, project, claim string, _ gen.GetClaimParams) error {
	return get(c, project, claim, asAsked(c, s.use.GetClaim), codec.ClaimOf)
}

func (s claimHandlers) PutClaim(c echo.Context, project, claim string, p gen.PutClaimParams) error {
	return put(c, conditions{p.IfMatch, p.IfNoneMatch, p.DryRun}, project, claim, codec.PutClaim, s.use.PutClaim, codec.ClaimOf)
}

func (s claimHandlers) PatchClaim(c echo.Context, project, claim string, p gen.PatchClaimParams) error {
	return patch(c, p.IfMatch, p.DryRun, func(ctx context.Context, body json.RawMessage, r usecase.Request) (ipam.Claim, error) {
		return s.use.PatchClaim(ctx, project, claim, r, codec.PatchClaim(body))
	}, codec.ClaimOf)
}

func (s claimHandlers) DeleteClaim(c echo.Context, project, claim string, p gen.DeleteClaimParams) error {
	return remove(c, p.IfMatch, p.DryRun, project, claim, s.use.DeleteClaim)
}

// ExplainClaim implements the operation: a claim that would be refused is answered with 200 as well, since the refusal is the answer.
func (s claimHandlers) ExplainClaim(c echo.Context, project string) error {
	var body gen.ClaimExplanationRequest
	if err := c.Bind(&body); err != nil {
		return err
	}
	spec, err := codec.ClaimSpec(project, body.Spec)
	if err != nil {
		return err
	}
	x, err := s.use.ExplainClaim(c.Request().Context(), project, ipam.Claim{Spec: spec})
	if err != nil {
		return err
	}
	explained := codec.ExplanationOf(spec, x)
	return codec.Answer(c.Response(), http.StatusOK, &explained)
}

// allocationHandlers serves allocations.
type allocationHandlers struct{ use Allocations }

func (s allocationHandlers) ListAllocations(c echo.Context, project string, p gen.ListAllocationsParams) error {
	f, err := filterParams{pool: p.Pool, class: p.Class, within: p.Within, contains: p.Contains}.filter(project)
	if err != nil {
		return err
	}
	f.Phase, f.Family = string(codec.Or(p.Phase, "")), ipam.Family(codec.Or(p.IPFamily, ""))
	f.Purpose, f.Own = ipam.Purpose(codec.Or(p.Purpose, "")), codec.Or(p.Holder, "") == gen.AllocationHolderSelf
	return list(c, p.Limit, p.Cursor, project, filtered(f, s.use.ListAllocations), codec.AllocationOf)
}

func (s allocationHandlers) GetAllocation(c echo.Context, project, allocation string, _ gen.GetAllocationParams) error {
	return get(c, project, allocation, asAsked(c, s.use.GetAllocation), codec.AllocationOf)
}

func (s allocationHandlers) DeleteAllocation(c echo.Context, project, allocation string, p gen.DeleteAllocationParams) error {
	return remove(c, p.IfMatch, p.DryRun, project, allocation, s.use.DeleteAllocation)
}
