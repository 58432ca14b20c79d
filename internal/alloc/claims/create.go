package claims

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/resolve"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// CreateClaim binds one block, or answers why not. The claim exists if and only if it is bound.
func (s *Claims) CreateClaim(ctx context.Context, project string, c ipam.Claim, r usecase.Request) (usecase.Result[ipam.Claim], error) {
	return s.createClaim(ctx, project, c, r, false)
}

// PutClaim is create-or-return: the claim of that name, if its spec is the same, is the answer (Existed); a claim with
// another spec is refused, naming what differs.
func (s *Claims) PutClaim(ctx context.Context, project string, c ipam.Claim, r usecase.Request) (usecase.Result[ipam.Claim], error) {
	return s.createClaim(ctx, project, c, r, true)
}

func (s *Claims) createClaim(ctx context.Context, project string, c ipam.Claim, r usecase.Request, put bool) (usecase.Result[ipam.Claim], error) {
	answer, class, err := s.makeClaim(ctx, project, c, r, put)
	repeated := answer.Replayed || answer.Existed
	s.decided(ctx, class, r, repeated, err)
	s.followClaim(ctx, c.Spec, answer.Value, class, repeated, err)
	return answer, err
}

// makeClaim answers the claim, and the class that it was resolved to. The first try begins, if it can, with what the server remembers, and
// then the transaction is all there is to wait for; the next ones begin with what the database says.
func (s *Claims) makeClaim(ctx context.Context, project string, c ipam.Claim, r usecase.Request, put bool) (usecase.Result[ipam.Claim], ipam.ClassRef, error) {
	none, class := usecase.Result[ipam.Claim]{}, ipam.ClassRef{}
	pass, key, remembered, err := s.EnterRemembered(ctx, tenancy.ClaimsWrite, project)
	if err != nil {
		return none, class, err
	}
	c, err = s.prepareClaim(c, key, pass.Principal)
	if err != nil {
		return none, class, err
	}
	random, event := ipam.NewID(), trail.Attempt(ctx, c.CreatedAt, key.ID, trail.KindClaim, c.Name)
	for round := range usecase.MaxRounds {
		var facts look
		if round == 0 && !put && !r.DryRun {
			facts = s.recollect(key, c.Spec)
		}
		if !facts.remembered {
			if remembered { // nothing is refused for what is remembered
				if key, err = s.ProjectKey(ctx, pass); err != nil {
					return none, class, err
				}
				remembered, c.ProjectID, event.ProjectID = false, key.ID, key.ID
			}
			var done bool
			var answer usecase.Result[ipam.Claim]
			facts.ClaimFacts, done, answer, err = s.settledBefore(ctx, c, r, put, func(ctx context.Context) (storage.ClaimFacts, error) { return s.lookUpClaim(ctx, key, c, r) })
			if done {
				if ipam.IsCode(err, ipam.CodeAlreadyExists) && c.Rename() {
					continue // a generated name that is taken is made anew
				}
				return answer, class, err
			}
		}
		bound, res, err := s.serve(ctx, key, c, facts, event, random, r)
		class = res.Ask.ClassRef()
		if _, conflict := storage.AsConflict(err); conflict { // somebody made this claim, or used this key, since we looked; or the project is gone
			if facts.remembered {
				remembered = true // look again, for the project too
				s.memory.doubts.Add(key.ID, s.Ticks())
			} else if err := usecase.StillThere(ctx, s.Store, key); err != nil {
				return none, class, err
			}
			continue
		}
		if err != nil && !storage.Shed(err) {
			if done, answer, met := s.madeMeanwhile(ctx, key, c, r, put); done {
				return answer, class, met
			}
		}
		if err == nil && !r.DryRun {
			s.memory.keepClaim(bound)
		}
		return usecase.Result[ipam.Claim]{Value: bound}, class, err
	}
	return none, class, storage.Contention(nil)
}

// lookUpClaim reads what is to be known before a claim is made, and remembers it.
func (s *Claims) lookUpClaim(ctx context.Context, key storage.ProjectKey, c ipam.Claim, r usecase.Request) (storage.ClaimFacts, error) {
	facts, err := s.classes.LookUp(ctx, s.Store, storage.ClaimQuery{Project: key, Name: c.Name, Pool: c.Spec.PoolRef, Class: resolve.ClassQuery(c.Spec), Key: r.Key, Now: s.Now(), Generated: c.GeneratedIn != 0})
	if p := facts.Pool; err == nil && p != nil && p.Scope == nil && resolve.MayClaim(key, *p, facts.Granted) {
		s.memory.keepPool(key, *p)
	}
	return facts, err
}

// madeMeanwhile looks once more after a refusal: when the same request is made twice at once, the last block may have gone
// to the first one, whose answer is the answer to both. A PUT that was to create only is told that it did not, and not that there was
// nothing left.
func (s *Claims) madeMeanwhile(ctx context.Context, key storage.ProjectKey, c ipam.Claim, r usecase.Request, put bool) (done bool, answer usecase.Result[ipam.Claim], err error) {
	if r.Key == "" && !put {
		return false, answer, nil
	}
	_, done, answer, err = s.settledBefore(ctx, c, r, put, func(ctx context.Context) (storage.ClaimFacts, error) {
		return s.Store.ClaimLookup(ctx, storage.ClaimQuery{Project: key, Name: c.Name, Key: r.Key, Now: s.Now()})
	})
	met := usecase.Answered(err) || ipam.IsCode(err, ipam.CodePreconditionFailed) || ipam.IsCode(err, ipam.CodeOutcomeUnknown)
	return done && met, answer, err
}

// prepareClaim validates and fixes everything that a repeat of the transaction must not change.
func (s *Claims) prepareClaim(c ipam.Claim, key storage.ProjectKey, who tenancy.Principal) (ipam.Claim, error) {
	if err := usecase.CheckNew(&c.Metadata, c.Spec.CheckNew()); err != nil {
		return c, err
	}
	c.Metadata = s.Fresh(c.Metadata, key.Name, s.Region, who)
	s.regions.NameHere(&c.Metadata)
	c.ProjectID = key.ID
	c.AllocationID = ipam.DerivedID(c.UID, "allocation")
	return c, nil
}

// settledBefore looks up what is to be known before a claim is made, and answers requests that need no transaction: a repeat with the same key, a name that
// exists. What earlier requests did is durable when it is answered, and when it is what something is refused for: who repeats a request by name without a
// key learns by the refusal that it was done.
func (s *Claims) settledBefore(ctx context.Context, c ipam.Claim, r usecase.Request, put bool, lookUp func(context.Context) (storage.ClaimFacts, error)) (facts storage.ClaimFacts, done bool, answer usecase.Result[ipam.Claim], err error) {
	var told error
	err = s.Durably(ctx, func(ctx context.Context) (_ bool, err error) {
		done, answer, told = false, usecase.Result[ipam.Claim]{}, nil
		if facts, err = lookUp(ctx); err != nil {
			return false, err
		}
		done, answer, told = s.madeBefore(ctx, facts, c, r, put)
		if !usecase.Answered(told) && !ipam.IsCode(told, ipam.CodeAlreadyExists) && !ipam.IsCode(told, ipam.CodePreconditionFailed) {
			return false, told
		}
		return done && !r.DryRun, nil
	})
	if err != nil {
		return facts, true, usecase.Result[ipam.Claim]{}, err
	}
	return facts, done, answer, told
}

func (s *Claims) madeBefore(ctx context.Context, facts storage.ClaimFacts, c ipam.Claim, r usecase.Request, put bool) (done bool, answer usecase.Result[ipam.Claim], err error) {
	have := facts.Claim
	if facts.Answer != nil {
		var made ipam.Claim
		err = usecase.Replayed(ctx, r, *facts.Answer, &made)
		if err == nil && (have == nil || have.UID != made.UID) { // the name was looked up before the key was, so look again
			err = s.StillHeld(ctx, storage.ProjectKey{ID: c.ProjectID, Name: c.Project}, []ipam.Claim{made})
		}
		if err != nil {
			return true, answer, err
		}
		return true, usecase.Result[ipam.Claim]{Value: made, Replayed: true}, nil
	}
	if have == nil {
		err = r.CheckPut(false, ipam.ID{})
		return err != nil, answer, err
	}
	if have.UID == c.UID { // our own, from a COMMIT whose answer was lost
		return true, usecase.Result[ipam.Claim]{Value: *have}, nil
	}
	if !put {
		return true, answer, claimExists(c, "/metadata/name")
	}
	if err := r.CheckPut(true, have.Revision); err != nil {
		return true, answer, err
	}
	if diff := differing(*have, c); len(diff) > 0 {
		e := ipam.Errorf(ipam.CodeAlreadyExists, "Claim %s exists with another spec; ask for what is there, or claim under another name.", c.Ref())
		e.Fields = diff
		return true, answer, e
	}
	return true, usecase.Result[ipam.Claim]{Value: *have, Existed: true}, nil
}

func claimExists(c ipam.Claim, pointer string) error {
	return ipam.Errorf(ipam.CodeAlreadyExists, "Claim %s exists already.", c.Ref()).At(pointer, "is taken; choose another name, or use PUT to create or return.")
}

// allocationOf is the record of a claim's block.
func allocationOf(c ipam.Claim, p ipam.Pool) ipam.Allocation {
	return ipam.Allocation{
		ID: c.AllocationID, Region: p.Place(), ProjectID: p.ProjectID, Project: p.Project, ContainerID: p.UID, Pool: p.Ref(),
		Block: c.Block, Purpose: ipam.PurposeClaim, Phase: ipam.PhaseBound,
		HolderProjectID: c.ProjectID, Holder: c.Ref(), Class: c.Class, ReclaimPolicy: c.ReclaimPolicy, OwnerRef: c.Spec.OwnerRef,
		Since: c.CreatedAt, Revision: heldRevision(c), CreatedAt: c.CreatedAt, UpdatedAt: c.CreatedAt, CreatedBy: c.CreatedBy,
	}
}

// heldRevision is the revision of the allocation that a claim holds. It follows the claim's and does not tell it: the pool's owner, who reads the
// allocation, learns so that the claim was changed, and not the tag with which its holder changes it.
func heldRevision(c ipam.Claim) ipam.ID { return ipam.DerivedID(c.Revision, "allocation") }
