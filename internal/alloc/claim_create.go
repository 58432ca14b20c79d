package alloc

import (
	"context"
	"errors"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// CreateClaim binds one block, or answers why not. The claim exists if and only if it is bound.
func (s *Service) CreateClaim(ctx context.Context, project string, c ipam.Claim, r Request) (Result[ipam.Claim], error) {
	return s.createClaim(ctx, project, c, r, false)
}

// PutClaim is create-or-return: the claim of that name, if its spec is the same, is the answer (Existed); a claim with
// another spec is refused, naming what differs.
func (s *Service) PutClaim(ctx context.Context, project string, c ipam.Claim, r Request) (Result[ipam.Claim], error) {
	return s.createClaim(ctx, project, c, r, true)
}

func (s *Service) createClaim(ctx context.Context, project string, c ipam.Claim, r Request, put bool) (Result[ipam.Claim], error) {
	none := Result[ipam.Claim]{}
	who, key, err := s.enter(ctx, tenancy.ClaimsWrite, project)
	if err != nil {
		return none, err
	}
	c, err = s.prepareClaim(c, key, who)
	if err != nil {
		return none, err
	}
	random, event := ipam.NewID(), attempt(ctx, c.CreatedAt, key.ID, kindClaim, c.Name)
	for range maxRounds {
		facts, err := s.store.ClaimLookup(ctx, ClaimQuery{Project: key, Name: c.Name, Pool: c.Spec.PoolRef, Key: r.Key, Now: s.now()})
		if err != nil {
			return none, err
		}
		if done, answer, err := settledBefore(facts, c, r, put); done {
			if ipam.IsCode(err, ipam.CodeAlreadyExists) && c.Rename() {
				continue // a generated name that is taken is made anew
			}
			return answer, err
		}
		pools, err := s.poolsFor(ctx, key, c.Spec, facts)
		if err != nil {
			return none, err
		}
		bound, err := s.bind(ctx, key, c, event, pools, random, r)
		if _, conflict := asConflict(err); conflict { // somebody made this claim, or used this key, since we looked; or the project is gone
			if err := stillThere(ctx, s.store, key); err != nil {
				return none, err
			}
			continue
		}
		if err != nil {
			if answer, ok := s.madeMeanwhile(ctx, key, c, r, put); ok {
				return answer, nil
			}
		}
		return Result[ipam.Claim]{Value: bound}, err
	}
	return none, contention(nil)
}

// madeMeanwhile looks once more after a refusal: when the same request is made twice at once, the last block may have gone
// to the first one, whose answer is the answer to both.
func (s *Service) madeMeanwhile(ctx context.Context, key ProjectKey, c ipam.Claim, r Request, put bool) (Result[ipam.Claim], bool) {
	if r.Key == "" && !put {
		return Result[ipam.Claim]{}, false
	}
	facts, err := s.store.ClaimLookup(ctx, ClaimQuery{Project: key, Name: c.Name, Key: r.Key, Now: s.now()})
	if err != nil {
		return Result[ipam.Claim]{}, false
	}
	done, answer, err := settledBefore(facts, c, r, put)
	return answer, done && err == nil
}

// prepareClaim validates and fixes everything that a repeat of the transaction must not change.
func (s *Service) prepareClaim(c ipam.Claim, key ProjectKey, who tenancy.Principal) (ipam.Claim, error) {
	if err := checkNew(&c.Metadata, c.Spec.Check()); err != nil {
		return c, err
	}
	c.Metadata = s.fresh(c.Metadata, key.Name, s.region, who)
	c.ProjectID = key.ID
	c.AllocationID = ipam.DerivedID(c.UID, "allocation")
	return c, nil
}

// settledBefore answers requests that need no transaction: a repeat with the same key, a name that exists.
func settledBefore(facts ClaimFacts, c ipam.Claim, r Request, put bool) (done bool, answer Result[ipam.Claim], err error) {
	if facts.Answer != nil {
		err = replayed(r, *facts.Answer, &answer.Value)
		answer.Replayed = err == nil
		return true, answer, err
	}
	have := facts.Claim
	if have == nil {
		return false, answer, nil
	}
	if have.UID == c.UID { // our own, from a COMMIT whose answer was lost
		return true, Result[ipam.Claim]{Value: *have}, nil
	}
	if !put {
		return true, answer, claimExists(c, "/metadata/name")
	}
	if diff := differing(*have, c); len(diff) > 0 {
		e := ipam.Errorf(ipam.CodeAlreadyExists, "Claim %s exists with another spec; delete it first, or ask for the same.", c.Ref())
		for _, pointer := range diff {
			_ = e.At(pointer, "differs from the existing claim.")
		}
		return true, answer, e
	}
	return true, Result[ipam.Claim]{Value: *have, Existed: true}, nil
}

func claimExists(c ipam.Claim, pointer string) error {
	return ipam.Errorf(ipam.CodeAlreadyExists, "Claim %s exists already.", c.Ref()).At(pointer, "is taken; choose another name, or use PUT to create or return.")
}

// bind tries the pools in turn. Only when every one is exhausted is that the answer, with the figures of all. A quota that has too
// little left stops the search in the pools that it covers, and is the answer when no other pool helps.
func (s *Service) bind(ctx context.Context, key ProjectKey, c ipam.Claim, e ipam.Event, all []ipam.Pool, random ipam.ID, r Request) (ipam.Claim, error) {
	if c.Spec.AllocationRef != "" {
		return s.rebind(ctx, key, c, e, r)
	}
	pools, last, err := s.withRoom(ctx, all, c.Spec)
	if err != nil {
		return ipam.Claim{}, err
	}
	var lacks quotaLacks
	var overQuota error
	for _, p := range pools {
		if w, err := wanted(c.Spec, p); err == nil && lacks.stop(p, claimUsage(p, w.bits)) {
			continue
		}
		bound, err := s.join(ctx, p, &member{ctx: ctx, key: key, claim: c, event: e, random: random, request: r, create: true})
		if lack, ok := errors.AsType[*noRoom](err); ok {
			err = refusal(ctx, s.store, p, lack.wish, exactPointer(c.Spec), key)
		}
		if lack, ok := errors.AsType[*quotaLack](err); ok {
			lacks, overQuota = append(lacks, lack), err
			continue
		}
		if ipam.IsCode(err, ipam.CodeNotFound) { // gone, or not granted any more: not to be named
			all = slices.DeleteFunc(slices.Clone(all), func(a ipam.Pool) bool { return a.UID == p.UID })
			continue
		}
		if !ipam.IsCode(err, ipam.CodePoolExhausted) && !(len(all) > 1 && triesNext(err)) {
			return bound, err
		}
		last = err
	}
	switch {
	case overQuota != nil:
		return ipam.Claim{}, overQuota
	case len(all) == 0:
		return ipam.Claim{}, noPoolLeft(key, c.Spec)
	case c.Spec.PoolSelector == nil:
		return ipam.Claim{}, last
	default:
		return ipam.Claim{}, s.exhaustedAll(ctx, all, c.Spec, last)
	}
}

// triesNext: this pool cannot, another one may.
func triesNext(err error) bool {
	switch ipam.CodeOf(err) {
	case ipam.CodePoolExhausted, ipam.CodeBlockTaken, ipam.CodeAllocationRetained, ipam.CodePrefixLengthRejected, ipam.CodeNeverSatisfiable:
		return true
	default:
		return false
	}
}

func (s *Service) exhaustedAll(ctx context.Context, pools []ipam.Pool, spec ipam.ClaimSpec, last error) error {
	if !ipam.IsCode(last, ipam.CodePoolExhausted) {
		return last
	}
	if err := fillStock(ctx, s.store, pools); err != nil {
		return err
	}
	stocks := make([]ipam.Stock, len(pools))
	bits := 0
	for i, p := range pools {
		stocks[i] = p.Stock
		if w, err := wanted(spec, p); err == nil {
			bits = w.bits
		}
	}
	return exhausted(pools, stocks, bits)
}

// claimWish is what a claim asks of a pool as a wish for the arithmetic.
func claimWish(w want, p ipam.Pool, random ipam.ID, attempt int) space.Wish {
	return wishFor(w.exact, w.bits, p.Spec.Allocation.Strategy, random, p.Block, attempt)
}

// allocationOf is the record of a claim's block.
func allocationOf(c ipam.Claim, p ipam.Pool) ipam.Allocation {
	return ipam.Allocation{
		ID: c.AllocationID, Region: p.Region, ProjectID: p.ProjectID, Project: p.Project, ContainerID: p.UID, Pool: p.Ref(),
		Block: c.Block, Purpose: ipam.PurposeClaim, Phase: ipam.PhaseBound,
		HolderProjectID: c.ProjectID, Holder: c.Ref(), ReclaimPolicy: c.Spec.ReclaimPolicy, OwnerRef: c.Spec.OwnerRef,
		Since: c.CreatedAt, Revision: c.Revision, CreatedAt: c.CreatedAt, UpdatedAt: c.CreatedAt, CreatedBy: c.CreatedBy,
	}
}
