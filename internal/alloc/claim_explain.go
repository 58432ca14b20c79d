package alloc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// Explanation is how a claim would be decided at this moment, and why.
type Explanation struct {
	Claim    *ipam.Claim // as it would be bound; nil: it would be refused
	Refusal  *ipam.Error
	Steps    []ipam.Step
	Remedies []Remedy // what would make a refused claim succeed, the smallest change first
}

// Remedy is one change of a claim, or of what surrounds it, that would make it succeed.
type Remedy struct {
	Pointer string // the place of the claim to change; "": it is not the claim's to change
	Value   string // what to set there, if there is one answer
	Detail  string // one sentence
}

// ExplainClaim decides a claim as its creation would, in a transaction that is always rolled back, and answers how. It is the same code:
// what it says is what the creation would have answered at this moment.
func (s *Service) ExplainClaim(ctx context.Context, project string, c ipam.Claim) (Explanation, error) {
	who, key, err := s.enter(ctx, tenancy.ClaimsRead, project)
	if err != nil {
		return Explanation{}, err
	}
	c.Name = "explained-" + ipam.NewID().String()
	if c, err = s.prepareClaim(c, key, who); err != nil {
		return Explanation{}, err
	}
	select {
	case s.explaining <- struct{}{}:
		defer func() { <-s.explaining }()
	case <-ctx.Done():
		return Explanation{}, ipam.Errorf(ipam.CodeDeadline, "Too many explanations were asked for at once. Repeat the request.").Because(ctx.Err())
	}
	event := attempt(ctx, c.CreatedAt, key.ID, kindClaim, c.Name)
	for range maxRounds {
		facts, err := s.classes.lookUp(ctx, s.store, ClaimQuery{Project: key, Pool: c.Spec.PoolRef, Class: classQuery(c.Spec), Now: s.now()})
		if err != nil {
			return Explanation{}, err
		}
		bound, res, err := s.serve(ctx, key, c, look{ClaimFacts: facts}, event, ipam.NewID(), Request{DryRun: true})
		if _, conflict := asConflict(err); conflict {
			continue
		}
		return s.explanation(ctx, key, bound, res, err)
	}
	return Explanation{}, contention(nil)
}

// maxExplaining is how many explanations one server works on at once: each is alone with the pool that it plans to carve from, and may be asked
// for by whoever may read claims.
const maxExplaining = 2

// explanation puts together what was decided, and why.
func (s *Service) explanation(ctx context.Context, key ProjectKey, bound ipam.Claim, res resolved, decision error) (Explanation, error) {
	out := Explanation{Steps: res.steps(maxExplained)}
	if decision == nil {
		out.Claim = &bound
		err := s.allowing(ctx, key, &out, res, bound)
		return out, err
	}
	refused, ok := errors.AsType[*ipam.Error](decision)
	if !ok || !aboutTheClaim(refused.Code) {
		return Explanation{}, decision
	}
	out.Refusal = refused
	var err error
	out.Remedies, err = s.remedies(ctx, refused, res)
	return out, err
}

// aboutTheClaim reports whether a code says something about the claim, and not about the moment.
func aboutTheClaim(code ipam.Code) bool {
	switch code {
	case ipam.CodeContention, ipam.CodeOutcomeUnknown, ipam.CodeUnavailable, ipam.CodeDeadline, ipam.CodeInternal, ipam.CodeRateLimited:
		return false
	default:
		return true
	}
}

// allowing adds the quotas that allowed a claim, with what each would have left.
func (s *Service) allowing(ctx context.Context, key ProjectKey, out *Explanation, res resolved, bound ipam.Claim) error {
	quotas, err := s.store.QuotaList(ctx, key, "", MaxQuotas)
	if err != nil {
		return err
	}
	at := ipam.HoldPlace{Pool: bound.Pool, Class: bound.Class.Ref, Family: ipam.FamilyOf(bound.Block.Addr())}
	for _, q := range quotas {
		if !q.Spec.Scope.Covers(at) {
			continue
		}
		res.note(ipam.StepQuota, ipam.Ref{Project: key.Name, Name: q.Name}, ipam.OutcomeAllowed, quotaLeft(q))
	}
	out.Steps = res.steps(maxExplained)
	return nil
}

// quotaLeft says how much of a quota is used.
func quotaLeft(q ipam.Quota) string {
	var parts []string
	for _, m := range measures {
		if limit := m.limit(q.Spec.Limits); limit != nil {
			parts = append(parts, fmt.Sprintf("%s of %s", m.of(q.Used), m.words(limit)))
		}
	}
	return "In use: " + strings.Join(parts, ", ") + "."
}

// remedies is what would help against a refusal, the smallest change first.
func (s *Service) remedies(ctx context.Context, e *ipam.Error, res resolved) ([]Remedy, error) {
	if !full(e) {
		return remedies(e, res), nil
	}
	largest, err := s.largestNow(ctx, res)
	return roomRemedies(e, res, largest), err
}

// largestNow is the length of the largest block that any of the pools that were considered could hand out now; nil: none could.
func (s *Service) largestNow(ctx context.Context, res resolved) (*int, error) {
	if res.first != nil || res.ask.spec.Exact().IsValid() {
		return nil, nil //nolint:nilnil // said above
	}
	pools := slices.Concat(res.pools, res.unfit)
	if err := fillStock(ctx, s.store, pools); err != nil {
		return nil, err
	}
	family := res.pools[0].Family()
	var best *int
	for _, p := range pools {
		free, ok := p.Stock.LargestFree()
		if !ok || p.Family() != family {
			continue
		}
		lo, hi := p.Spec.Allocation.Bounds(p.Block)
		if res.ask.class != nil {
			least, most := res.ask.class.Spec.Bounds()
			lo, hi = max(lo, least), min(hi, most)
		}
		if bits := max(free, lo); bits <= hi && (best == nil || bits < *best) {
			best = &bits
		}
	}
	return best, nil
}

// remedies is what would help against any other refusal than for want of room.
func remedies(e *ipam.Error, res resolved) []Remedy {
	f := e.Figures
	switch e.Code {
	case ipam.CodePrefixLengthRejected, ipam.CodeNeverSatisfiable:
		if f.WantedPrefixLength == nil || f.AllowedMin == nil || f.AllowedMax == nil || res.ask.spec.Exact().IsValid() {
			break
		}
		nearest := min(max(*f.WantedPrefixLength, *f.AllowedMin), *f.AllowedMax)
		return []Remedy{{"/spec/prefixLength", strconv.Itoa(nearest), fmt.Sprintf("Ask for a /%d: lengths /%d to /%d are handed out here.", nearest, *f.AllowedMin, *f.AllowedMax)}}
	case ipam.CodeFamilyMismatch:
		return []Remedy{{"/spec/ipFamily", "", "Leave the family out, or name a class or a pool of the family that you want."}}
	case ipam.CodeNoDefaultClass:
		return []Remedy{
			{"/spec/className", "", "Name a class; the list of classes says which the project may use."},
			{"", "", "Have isDefault set on a class of the project, or on a shared one of the platform."},
		}
	case ipam.CodeNoPoolForClass:
		return []Remedy{{"", "", fmt.Sprintf("Have a pool list %q in its classNames.", res.ask.class.Name)}}
	case ipam.CodeNoPoolMatches:
		return []Remedy{{"/spec/poolSelector", "", "Select by labels that a pool has, or claim by class."}}
	case ipam.CodeQuotaExceeded:
		return []Remedy{{"", "", fmt.Sprintf("Give something back, ask for less, or have %s of quota %s raised: %s of %s in use, %s asked for.", f.Measure, f.Quota, f.Used, f.Limit, f.Requested)}}
	case ipam.CodeBlockTaken, ipam.CodeAllocationRetained:
		return []Remedy{{exactPointer(res.ask.spec), "", "Leave it out to get any free block, or ask for another one."}}
	default:
	}
	out := make([]Remedy, 0, len(e.Fields))
	for _, field := range e.Fields {
		out = append(out, Remedy{field.Pointer, "", "This " + field.Detail})
	}
	return out
}

// roomRemedies: a smaller block if there is one, then waiting, then more room.
func roomRemedies(e *ipam.Error, res resolved, largest *int) []Remedy {
	var out []Remedy
	if largest != nil {
		out = append(out, Remedy{"/spec/prefixLength", strconv.Itoa(*largest), fmt.Sprintf("Ask for a /%d: that is the largest block that can be had now.", *largest)})
	}
	if at := e.Figures.CooledDownAt; !at.IsZero() {
		out = append(out, Remedy{"", "", "Repeat the claim after " + at.Format(time.RFC3339) + ", when a block has cooled down."})
	}
	if res.ask.class != nil {
		return append(out, Remedy{"", "", fmt.Sprintf("Have another pool list %q in its classNames.", res.ask.class.Name)})
	}
	return append(out, Remedy{"", "", "Give a block back, or claim from another pool."})
}
