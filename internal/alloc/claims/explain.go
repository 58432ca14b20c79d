package claims

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/carve-ipam/carve/internal/alloc/pools"
	"github.com/carve-ipam/carve/internal/alloc/quota"
	"github.com/carve-ipam/carve/internal/alloc/resolve"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
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

// explainer explains how claims would be decided.
type explainer struct {
	*usecase.Core

	prepare preparer
	binder  *binder
	classes pools.ClassMemory
	places  chan struct{} // one for each explanation that is worked on
}

// ExplainClaim decides a claim as its creation would, in a transaction that is always rolled back, and answers how. It is the same code:
// what it says is what the creation would have answered at this moment.
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
		return Explanation{}, ipam.Errorf(ipam.CodeDeadline, "Too many explanations were asked for at once. Repeat the request.").Because(ctx.Err())
	}
	event := trail.Attempt(ctx, c.CreatedAt, key.ID, trail.KindClaim, c.Name)
	return usecase.UntilAgreed(func(int) (Explanation, error) {
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

// MaxExplaining is how many explanations one server works on at once: each is alone with the pool that it plans to carve from, and may be asked
// for by whoever may read claims.
const MaxExplaining = 2

// explanation puts together what was decided, and why.
func (s *explainer) explanation(ctx context.Context, key storage.ProjectKey, bound ipam.Claim, res resolve.Resolved, decision error) (Explanation, error) {
	if decision == nil {
		res.Chose(bound)
		out := Explanation{Claim: &bound}
		err := s.allowing(ctx, key, &out, res, bound)
		return out, err
	}
	refused, ok := errors.AsType[*ipam.Error](decision)
	if !ok || !aboutTheClaim(refused.Code) {
		return Explanation{}, decision
	}
	remedies, err := s.remedies(ctx, refused, res)
	return Explanation{Steps: res.Steps(resolve.MaxExplained), Refusal: refused, Remedies: remedies}, err
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
func (s *explainer) allowing(ctx context.Context, key storage.ProjectKey, out *Explanation, res resolve.Resolved, bound ipam.Claim) error {
	quotas, err := s.Store.QuotaList(ctx, key, "", storage.MaxQuotas)
	if err != nil {
		return err
	}
	at := ipam.HoldPlace{Pool: bound.Pool, Class: bound.Class.Ref, Family: ipam.FamilyOf(bound.Block.Addr())}
	for _, q := range quotas {
		if !q.Spec.Scope.Covers(at) {
			continue
		}
		res.Note(ipam.StepQuota, ipam.Ref{Project: key.Name, Name: q.Name}, ipam.OutcomeAllowed, quotaLeft(q))
	}
	out.Steps = res.Steps(resolve.MaxExplained)
	return nil
}

// quotaLeft says how much of a quota is used.
func quotaLeft(q ipam.Quota) string {
	var parts []string
	for _, m := range quota.Measures {
		if limit := m.Limit(q.Spec.Limits); limit != nil {
			parts = append(parts, fmt.Sprintf("%s of %s", m.Of(q.Used), m.Words(limit)))
		}
	}
	return "In use: " + strings.Join(parts, ", ") + "."
}
