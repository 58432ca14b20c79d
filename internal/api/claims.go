package api

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/alloc/allocations"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/releases"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// claimHandlers serves claims.
type claimHandlers struct {
	use     Claims
	changes Changes
}

func (s claimHandlers) ListClaims(c echo.Context, project string, p gen.ListClaimsParams) error {
	f, err := filterParams{labels: p.LabelSelector, pool: p.Pool, class: p.Class, within: p.Within, contains: p.Contains}.filter(project)
	if err != nil {
		return err
	}
	f.Phase, f.Family = string(codec.ValueOr(p.Phase, "")), ipam.Family(codec.ValueOr(p.IPFamily, ""))
	f.Owner = strings.TrimRight(codec.ValueOr(p.Owner, ""), "/")
	if p.Consumer != nil {
		f.Consumer = codec.ConsumerRef(codec.ValueOr(p.Realm, ""), *p.Consumer)
	}
	return followed(c, s.changes, p.Limit, p.Cursor, project, filtered(f, s.use.ListClaims), codec.ClaimOf)
}

func (s claimHandlers) CreateClaim(c echo.Context, project string, p gen.CreateClaimParams) error {
	return create(c, post{project: project, key: p.IdempotencyKey, dryRun: p.DryRun}, codec.NewClaim, s.use.CreateClaim, codec.ClaimOf)
}

// answeredClaim is the number of bytes that the response to a claim needs beyond the texts in the request. CreateClaimBatch reserves memory by it.
const answeredClaim = 512

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
	bytes := 0
	for i := range asked {
		bytes += answeredClaim + asked[i].Size()
	}
	keep, err := reserve(c, bytes)
	if err != nil {
		return err
	}
	defer keep(0)
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

func (s claimHandlers) ReleaseClaims(c echo.Context, project string, p gen.ReleaseClaimsParams) error {
	var body gen.ClaimReleaseCreate
	if err := c.Bind(&body); err != nil {
		return err
	}
	asked, err := releasing(project, body)
	if err != nil {
		return err
	}
	r := usecase.Request{DryRun: codec.ValueOr(p.DryRun, false)}
	done, err := s.use.ReleaseClaims(c.Request().Context(), project, asked, r)
	if err != nil {
		return inSelection(err)
	}
	mark(c, r.DryRun, false)
	out := codec.ReleaseOf(done, r.DryRun)
	return codec.Answer(c.Response(), http.StatusOK, &out)
}

// shownReleases is the largest number of claims that a dry run of a release lists.
const shownReleases = 100

// releasing converts the body of a release into the selection of the claims to release.
func releasing(project string, body gen.ClaimReleaseCreate) (releases.Selection, error) {
	sel := body.Select
	q := releases.Selection{
		Names: sel.Names, Token: body.Token, Cursor: body.Cursor, Limit: codec.ValueOr(body.Limit, releases.MaxReleases), Preview: shownReleases,
	}
	if sel.Names != nil && (sel.Owner != "" || sel.LabelSelector != "" || sel.Pool != "" || sel.ClassName != "" || sel.Consumer != nil) {
		return q, ipam.Invalid("/select/names", "cannot be combined with other conditions; leave them out.")
	}
	if body.CreatedBefore != nil {
		q.Before = *body.CreatedBefore
	}
	var err error
	q.Filter, err = filterParams{labels: &sel.LabelSelector, class: &sel.ClassName}.filter(project)
	q.Filter.Owner = strings.TrimRight(sel.Owner, "/")
	if sel.Pool != "" {
		q.Filter.Pool = refFilter(project, &sel.Pool)
	}
	if sel.Consumer != nil {
		q.Filter.Consumer = codec.ConsumerRef(sel.Consumer.Realm, sel.Consumer.UID)
	}
	return q, inSelection(err)
}

// inSelection rewrites the field pointers of an error from a list. It does so because in this operation the filters are in the body, not in the
// query.
func inSelection(err error) error {
	e, ok := err.(*ipam.Error) //nolint:errorlint // only the refusal itself is re-pointed
	if !ok {
		return err
	}
	moved := *e
	moved.Fields = slices.Clone(e.Fields)
	for i, f := range e.Fields {
		param, is := strings.CutPrefix(f.Pointer, "query:")
		switch {
		case !is:
			continue
		case param == "cursor":
			moved.Fields[i].Pointer = "/cursor"
		case param == "class":
			moved.Fields[i].Pointer = "/select/className"
		default:
			moved.Fields[i].Pointer = "/select/" + param
		}
		moved.Message = strings.ReplaceAll(moved.Message, f.Pointer, moved.Fields[i].Pointer)
	}
	return &moved
}

// ExplainClaim returns 200 even if the claim would be refused, because the explanation is the result.
func (s claimHandlers) ExplainClaim(c echo.Context, project string) error {
	var body gen.ClaimExplanationRequest
	if err := c.Bind(&body); err != nil {
		return err
	}
	spec, err := codec.ClaimSpec(project, body.Spec)
	if err != nil {
		return err
	}
	keep, err := reserve(c, paging.MostBytes)
	if err != nil {
		return err
	}
	defer keep(0)
	x, err := s.use.ExplainClaim(c.Request().Context(), project, ipam.Claim{Spec: spec})
	if err != nil {
		return err
	}
	explained := codec.ExplanationOf(spec, x)
	return codec.Answer(c.Response(), http.StatusOK, &explained)
}

// allocationHandlers serves allocations.
type allocationHandlers struct {
	use     Allocations
	changes Changes
}

func (s allocationHandlers) ListAllocations(c echo.Context, project string, p gen.ListAllocationsParams) error {
	f, err := filterParams{pool: p.Pool, class: p.Class, within: p.Within, contains: p.Contains}.filter(project)
	if err != nil {
		return err
	}
	f.Phase, f.Family = string(codec.ValueOr(p.Phase, "")), ipam.Family(codec.ValueOr(p.IPFamily, ""))
	f.Purpose, f.Own = ipam.Purpose(codec.ValueOr(p.Purpose, "")), codec.ValueOr(p.Holder, "") == gen.AllocationHolderSelf
	return followed(c, s.changes, p.Limit, p.Cursor, project, filtered(f, s.use.ListAllocations), codec.AllocationOf)
}

func (s allocationHandlers) GetAllocation(c echo.Context, project, allocation string, _ gen.GetAllocationParams) error {
	return get(c, project, allocation, asAsked(c, s.use.GetAllocation), codec.AllocationOf)
}

func (s allocationHandlers) GetPoolMap(c echo.Context, project, pool string, p gen.GetPoolMapParams) error {
	within, err := codec.Block("query:within", codec.ValueOr(p.Within, ""))
	if err != nil {
		return err
	}
	m, err := s.use.GetPoolMap(c.Request().Context(), project, pool, within, codec.ValueOr(p.Depth, allocations.MaxMapDepth), readingOf(c))
	if err != nil {
		return err
	}
	shown := codec.PoolMapOf(m)
	return codec.Answer(c.Response(), http.StatusOK, &shown)
}

func (s allocationHandlers) DeleteAllocation(c echo.Context, project, allocation string, p gen.DeleteAllocationParams) error {
	return remove(c, p.IfMatch, p.DryRun, project, allocation, s.use.DeleteAllocation)
}
