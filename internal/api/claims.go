package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/alloc/allocations"
	"github.com/carve-ipam/carve/internal/alloc/claims"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/releases"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (s *server) ListClaims(c echo.Context, project string, p gen.ListClaimsParams) error {
	f, err := filterParams{labels: p.LabelSelector, pool: p.Pool, class: p.Class, within: p.Within, contains: p.Contains}.filter(project)
	if err != nil {
		return err
	}
	f.Phase, f.Family = string(value(p.Phase)), ipam.Family(value(p.IPFamily))
	f.Owner = strings.TrimRight(value(p.Owner), "/")
	if p.Consumer != nil {
		f.Consumer = codec.ConsumerRef(value(p.Realm), *p.Consumer)
	}
	return listFollowed(c, s.use, p.Limit, p.Cursor, project, withArgument(f, s.use.ListClaims), codec.ClaimOf)
}

func (s *server) CreateClaim(c echo.Context, project string, p gen.CreateClaimParams) error {
	return create(c, post{project: project, key: p.IdempotencyKey, dryRun: p.DryRun}, codec.NewClaim, s.use.CreateClaim, codec.ClaimOf)
}

// claimOverhead is the size in bytes of a claim in a response, without the texts from the request. CreateClaimBatch uses it to reserve memory.
const claimOverhead = 512

func (s *server) CreateClaimBatch(c echo.Context, project string, p gen.CreateClaimBatchParams) error {
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
		bytes += claimOverhead + asked[i].Size()
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

func (s *server) GetClaim(c echo.Context, project, claim string, _ gen.GetClaimParams) error {
	return get(c, project, claim, withConsistency(c, s.use.GetClaim), codec.ClaimOf)
}

func (s *server) PutClaim(c echo.Context, project, claim string, p gen.PutClaimParams) error {
	return put(c, conditions{p.IfMatch, p.IfNoneMatch, p.DryRun}, project, claim, codec.PutClaim, s.use.PutClaim, codec.ClaimOf)
}

func (s *server) PatchClaim(c echo.Context, project, claim string, p gen.PatchClaimParams) error {
	return patch(c, p.IfMatch, p.DryRun, project, claim, codec.PatchClaim, s.use.PatchClaim, codec.ClaimOf)
}

func (s *server) DeleteClaim(c echo.Context, project, claim string, p gen.DeleteClaimParams) error {
	return remove(c, p.IfMatch, p.DryRun, project, claim, s.use.DeleteClaim)
}

func (s *server) ReleaseClaims(c echo.Context, project string, p gen.ReleaseClaimsParams) error {
	var body gen.ClaimReleaseCreate
	if err := c.Bind(&body); err != nil {
		return err
	}
	asked, err := selectionOf(project, body)
	if err != nil {
		return err
	}
	r := usecase.Request{DryRun: value(p.DryRun)}
	done, err := s.use.ReleaseClaims(c.Request().Context(), project, asked, r)
	if err != nil {
		return pointToBody(err)
	}
	mark(c, r.DryRun, false)
	out := codec.ReleaseOf(done, r.DryRun)
	return sendOK(c, &out)
}

// shownReleases is the maximum number of claims that the dry run of a release lists.
const shownReleases = 100

// selectionOf converts the body into the selection of claims to release.
func selectionOf(project string, body gen.ClaimReleaseCreate) (releases.Selection, error) {
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
	return q, pointToBody(err)
}

// pointToBody rewrites the field pointers in a list's error, because in this operation the filters are in the body and not in the query.
func pointToBody(err error) error {
	e, ok := err.(*ipam.Error) //nolint:errorlint // only an unwrapped refusal has pointers to rewrite
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
func (s *server) ExplainClaim(c echo.Context, project string) error {
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
	return reply(c, x, err, func(x claims.Explanation) gen.ClaimExplanation { return codec.ExplanationOf(spec, x) })
}

func (s *server) ListAllocations(c echo.Context, project string, p gen.ListAllocationsParams) error {
	f, err := filterParams{pool: p.Pool, class: p.Class, within: p.Within, contains: p.Contains}.filter(project)
	if err != nil {
		return err
	}
	f.Phase, f.Family = string(value(p.Phase)), ipam.Family(value(p.IPFamily))
	f.Purpose, f.Own = ipam.Purpose(value(p.Purpose)), value(p.Holder) == gen.AllocationHolderSelf
	return listFollowed(c, s.use, p.Limit, p.Cursor, project, withArgument(f, s.use.ListAllocations), codec.AllocationOf)
}

func (s *server) GetAllocation(c echo.Context, project, allocation string, _ gen.GetAllocationParams) error {
	return get(c, project, allocation, withConsistency(c, s.use.GetAllocation), codec.AllocationOf)
}

func (s *server) GetPoolMap(c echo.Context, project, pool string, p gen.GetPoolMapParams) error {
	within, err := codec.Block("query:within", value(p.Within))
	if err != nil {
		return err
	}
	m, err := s.use.GetPoolMap(c.Request().Context(), project, pool, within, codec.ValueOr(p.Depth, allocations.MaxMapDepth), readingOf(c))
	return reply(c, m, err, codec.PoolMapOf)
}

func (s *server) DeleteAllocation(c echo.Context, project, allocation string, p gen.DeleteAllocationParams) error {
	return remove(c, p.IfMatch, p.DryRun, project, allocation, s.use.DeleteAllocation)
}
