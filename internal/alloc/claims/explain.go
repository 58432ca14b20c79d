package claims

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/pools"
	"github.com/carve-ipam/carve/internal/alloc/quota"
	"github.com/carve-ipam/carve/internal/alloc/resolve"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// Explanation is the decision that a claim would get at this moment, with its reasons.
type Explanation struct {
	Claim    *ipam.Claim // the claim as it would be bound; nil if it is refused
	Refusal  *ipam.Error
	Steps    []ipam.Step
	Remedies []Remedy // changes that would make a refused claim succeed, the smallest first
}

type explainer struct {
	*usecase.Core

	prepare preparer
	binder  *binder
	classes pools.ClassCache
	places  chan struct{} // one slot for each running explanation
}

// ExplainClaim decides a claim in a transaction that is always rolled back. It runs the same code as CreateClaim, so it returns the same result.
func (s *explainer) ExplainClaim(ctx context.Context, project string, c ipam.Claim) (Explanation, error) {
	who, key, err := s.Enter(ctx, tenancy.ClaimsRead, project)
	if err != nil {
		return Explanation{}, err
	}
	c.Name = "explained-" + ipam.NewID().String()
	if c, err = s.prepare.claim(c, key, who); err != nil {
		return Explanation{}, err
	}
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	case <-ctx.Done():
		return Explanation{}, ipam.Errorf(ipam.CodeDeadline, "The server explains too many claims at once. Repeat the request.").WithCause(ctx.Err())
	}
	event := trail.Attempt(ctx, c.CreatedAt, key.ID, trail.KindClaim, c.Name)
	return usecase.RetryConflicts(func(int) (Explanation, error) {
		facts, err := s.classes.LookUp(ctx, s.Store, storage.ClaimQuery{Project: key, Pool: c.Spec.PoolRef, Class: resolve.ClassQuery(c.Spec), Now: s.Now()})
		if err != nil {
			return Explanation{}, err
		}
		o := &order{key: key, request: usecase.Request{DryRun: true}, claim: c, event: event, random: ipam.NewID()}
		bound, err := s.binder.serve(ctx, o, facts)
		if _, conflict := storage.AsConflict(err); conflict {
			return Explanation{}, err
		}
		return s.explanation(ctx, key, bound, o.choice.Resolved, err)
	})
}

// MaxExplaining limits the concurrent explanations in one server. Each explanation locks a pool, and every caller with read access to claims may
// request one.
const MaxExplaining = 2

// explanation combines the decision and its reasons.
func (s *explainer) explanation(ctx context.Context, key storage.ProjectKey, bound ipam.Claim, res resolve.Resolved, decision error) (Explanation, error) {
	if decision == nil {
		res.Chose(bound)
		out := Explanation{Claim: &bound}
		err := s.addQuotas(ctx, key, &out, res, bound)
		return out, err
	}
	refused, ok := errors.AsType[*ipam.Error](decision)
	if !ok || !AboutTheClaim(refused.Code) {
		return Explanation{}, decision
	}
	remedies, err := s.remedies(ctx, refused, res)
	return Explanation{Steps: res.Steps(resolve.MaxExplained), Refusal: refused, Remedies: remedies}, err
}

// AboutTheClaim reports whether a code is about the claim. The other codes are about a temporary state of the server.
func AboutTheClaim(code ipam.Code) bool {
	switch code {
	case ipam.CodeContention, ipam.CodeOutcomeUnknown, ipam.CodeUnavailable, ipam.CodeDeadline, ipam.CodeInternal, ipam.CodeRateLimited:
		return false
	default:
		return true
	}
}

// addQuotas adds the quotas that cover the claim, and their usage, to an explanation.
func (s *explainer) addQuotas(ctx context.Context, key storage.ProjectKey, out *Explanation, res resolve.Resolved, bound ipam.Claim) error {
	quotas, err := s.Store.QuotaList(ctx, key, "", storage.MaxQuotas)
	if err != nil {
		return err
	}
	at := ipam.QuotaSubject{Pool: bound.Pool, Class: bound.Class.Ref, Family: ipam.FamilyOf(bound.Block.Addr())}
	for _, q := range quotas {
		if !q.Spec.Scope.Covers(at) {
			continue
		}
		res.Note(ipam.StepQuota, ipam.Ref{Project: key.Name, Name: q.Name}, ipam.OutcomeAllowed, quotaLeft(q))
	}
	out.Steps = res.Steps(resolve.MaxExplained)
	return nil
}

// quotaLeft returns the text about a quota's use.
func quotaLeft(q ipam.Quota) string {
	var parts []string
	for _, m := range quota.Measures {
		if limit := m.Limit(q.Spec.Limits); limit != nil {
			parts = append(parts, fmt.Sprintf("%s of %s", m.Of(q.Used), m.Words(limit)))
		}
	}
	return "In use: " + strings.Join(parts, ", ") + "."
}

// Remedy is one change that would make a refused claim succeed.
type Remedy struct {
	Pointer string // the claim's field to change; empty if the change is elsewhere
	Value   string // the value to set, if only one value helps
	Detail  string // one sentence
}

// remedies returns the changes that would prevent a refusal, the smallest first.
func (s *explainer) remedies(ctx context.Context, e *ipam.Error, res resolve.Resolved) ([]Remedy, error) {
	if !isFull(e) {
		return remedies(e, res), nil
	}
	largest, err := s.largestNow(ctx, res)
	return roomRemedies(e, res, largest), err
}

// largestNow returns the length of the largest block that any considered pool could hand out now, or nil if none could.
func (s *explainer) largestNow(ctx context.Context, res resolve.Resolved) (*int, error) {
	if res.First != nil || res.Ask.Spec.Exact().IsValid() {
		return nil, nil //nolint:nilnil // documented above
	}
	pools := slices.Concat(res.Pools, res.Unfit)
	if err := storage.FillStock(ctx, s.Store, pools); err != nil {
		return nil, err
	}
	family := res.Pools[0].Family()
	var best *int
	for _, p := range pools {
		free, ok := p.Stock.LargestFree()
		if !ok || p.Family() != family || p.Draining() {
			continue
		}
		lo, hi := p.Spec.Allocation.Bounds(p.Block)
		if res.Ask.Class != nil {
			shortest, longest := res.Ask.Class.Spec.Bounds()
			lo, hi = max(lo, shortest), min(hi, longest)
		}
		if bits := max(free, lo); bits <= hi && (best == nil || bits < *best) {
			best = &bits
		}
	}
	return best, nil
}

// remedies returns the changes that would prevent a refusal. It does not handle refusals for lack of room.
func remedies(e *ipam.Error, res resolve.Resolved) []Remedy {
	f := e.Figures
	switch e.Code {
	case ipam.CodePrefixLengthRejected, ipam.CodeNeverSatisfiable:
		if f.WantedPrefixLength == nil || f.AllowedMin == nil || f.AllowedMax == nil {
			break
		}
		nearest := min(max(*f.WantedPrefixLength, *f.AllowedMin), *f.AllowedMax)
		if exact := res.Ask.Spec.Exact(); exact.IsValid() {
			if e.Code != ipam.CodePrefixLengthRejected || !res.Ask.Spec.CIDR.IsValid() {
				break
			}
			block := netip.PrefixFrom(exact.Addr(), nearest).Masked()
			return []Remedy{{"/spec/cidr", block.String(), fmt.Sprintf("Ask for %s: lengths /%d to /%d are allowed.", block, *f.AllowedMin, *f.AllowedMax)}}
		}
		return []Remedy{{"/spec/prefixLength", strconv.Itoa(nearest), fmt.Sprintf("Ask for a /%d: lengths /%d to /%d are allowed.", nearest, *f.AllowedMin, *f.AllowedMax)}}
	case ipam.CodeFamilyMismatch:
		return []Remedy{{"/spec/ipFamily", "", "Leave out ipFamily, or name a class or a pool of that family."}}
	case ipam.CodeNoDefaultClass:
		return []Remedy{
			{"/spec/className", "", "Name a class from the list of classes of the project."},
			{"", "", "Set isDefault on a class of the project, or on a shared class of the platform."},
		}
	case ipam.CodeNoPoolForClass:
		return []Remedy{{"", "", fmt.Sprintf("Add %q to the classNames of a pool.", res.Ask.Class.Name)}}
	case ipam.CodeNoPoolMatches:
		return []Remedy{{"/spec/poolSelector", "", "Select by labels that a pool has, or claim by class."}}
	case ipam.CodePoolDraining:
		return []Remedy{otherPoolRemedy(res), {"", "", "Ask the owner of the pool to stop draining it."}}
	case ipam.CodeQuotaExceeded:
		return []Remedy{{"", "", fmt.Sprintf("Release something, ask for less, or raise %s of quota %s: %s of %s in use, %s requested.", f.Measure, f.Quota, f.Used, f.Limit, f.Requested)}}
	case ipam.CodeBlockTaken, ipam.CodeAllocationRetained:
		return []Remedy{{resolve.ExactPointer(res.Ask.Spec), "", "Leave it out to get any free block, or ask for another one."}}
	default:
	}
	out := make([]Remedy, 0, len(e.Fields))
	for _, field := range e.Fields {
		out = append(out, Remedy{field.Pointer, "", "This " + field.Detail})
	}
	return out
}

// roomRemedies returns the changes for a refusal for lack of room. First comes a smaller block if one is free, then a wait, then more room.
func roomRemedies(e *ipam.Error, res resolve.Resolved, largest *int) []Remedy {
	var out []Remedy
	if largest != nil {
		out = append(out, Remedy{"/spec/prefixLength", strconv.Itoa(*largest), fmt.Sprintf("Ask for a /%d, the largest block that is free now.", *largest)})
	}
	if at := e.Figures.CooledDownAt; !at.IsZero() {
		out = append(out, Remedy{"", "", "Repeat the claim after " + at.Format(time.RFC3339) + ", when a block has cooled down."})
	}
	if res.Ask.Class != nil {
		return append(out, otherPoolRemedy(res))
	}
	return append(out, Remedy{"", "", "Release a block, or claim from another pool."})
}

// otherPoolRemedy returns the remedy to use another pool for the claim.
func otherPoolRemedy(res resolve.Resolved) Remedy {
	if res.Ask.Class != nil {
		return Remedy{"", "", fmt.Sprintf("Add %q to the classNames of another pool.", res.Ask.Class.Name)}
	}
	return Remedy{"/spec/poolRef/name", "", "Claim from another pool, or by class."}
}
