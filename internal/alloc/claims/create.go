package claims

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/attach"
	"github.com/carve-ipam/carve/internal/alloc/pools"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/resolve"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

type creator struct {
	*usecase.Core

	prepare preparer
	binder  *binder
	classes pools.ClassCache
	cache   Cache
}

// CreateClaim binds one block, or returns the reason for a refusal. A refused claim does not exist.
func (s *creator) CreateClaim(ctx context.Context, project string, c ipam.Claim, r usecase.Request) (usecase.Result[ipam.Claim], error) {
	return s.createAndReport(ctx, project, c, r, false)
}

// PutClaim creates a claim. If a claim with that name and the same spec exists, PutClaim returns that claim and sets Existed. If its spec is
// different, PutClaim refuses the request and lists the differences.
func (s *creator) PutClaim(ctx context.Context, project string, c ipam.Claim, r usecase.Request) (usecase.Result[ipam.Claim], error) {
	return s.createAndReport(ctx, project, c, r, true)
}

func (s *creator) createAndReport(ctx context.Context, project string, c ipam.Claim, r usecase.Request, put bool) (result usecase.Result[ipam.Claim], err error) {
	m, err := s.begin(ctx, project, c, r, put)
	if err == nil {
		result, err = usecase.RetryConflicts(func(round int) (usecase.Result[ipam.Claim], error) { return m.try(ctx, round) })
	}
	reporter{s.Core}.recordClaim(ctx, c.Spec, result, m.class(), r, err)
	return result, err
}

type creation struct {
	*creator

	order         *order
	pass          tenancy.Pass
	put           bool
	cachedProject bool // the project comes from the cache; this request has not read it from the database
}

// begin sets every value that must be the same in each attempt.
func (s *creator) begin(ctx context.Context, project string, c ipam.Claim, r usecase.Request, put bool) (m creation, err error) {
	m = creation{creator: s, put: put}
	var key storage.ProjectKey
	if m.pass, key, m.cachedProject, err = s.EnterCached(ctx, tenancy.ClaimsWrite, project); err != nil {
		return m, err
	}
	if c, err = s.prepare.claim(c, key, m.pass.Principal); err != nil {
		return m, err
	}
	if err := attach.CheckLimit(ctx, s.Core, key.ID, "/spec/consumers", c.Spec.Consumers...); err != nil {
		return m, err
	}
	m.order = &order{key: key, request: r, claim: c, random: ipam.NewID(), event: trail.Attempt(ctx, c.CreatedAt, key.ID, trail.KindClaim, c.Name)}
	return m, nil
}

// class returns the claim's class, as far as it is resolved.
func (m *creation) class() ipam.ClassRef {
	if m.order == nil || m.order.choice == nil {
		return ipam.ClassRef{}
	}
	return m.order.choice.Ask.ClassRef()
}

// try runs one attempt. The first attempt uses cached facts if they exist, and then waits only for the transaction. Later attempts read the facts
// from the database.
func (m *creation) try(ctx context.Context, round int) (result usecase.Result[ipam.Claim], err error) {
	o := m.order
	var facts storage.ClaimFacts
	if o.cached = false; round == 0 && !m.put && !o.request.DryRun {
		facts = m.fromCache(o)
	}
	if !o.cached {
		var done bool
		if facts, done, result, err = m.lookUp(ctx); done {
			if ipam.IsCode(err, ipam.CodeAlreadyExists) && o.claim.Rename() {
				err = &storage.Conflict{} // the generated name is taken, so draw another one
			}
			return result, err
		}
	}
	bound, err := m.binder.serve(ctx, o, facts)
	// A conflict means one of two things. Another request has created this claim or used this key since the look-up, or the project is gone.
	if _, conflict := storage.AsConflict(err); conflict {
		return result, m.handleConflict(ctx, err)
	}
	if err != nil && !storage.Shed(err) {
		if done, result, met := m.findConcurrentCreate(ctx); done {
			return result, met
		}
	}
	if err == nil && !o.request.DryRun {
		m.cache.putClaim(bound)
	}
	return usecase.Result[ipam.Claim]{Value: bound}, err
}

// handleConflict handles a conflict. If the facts came from the cache, the next attempts read the facts and the project from the database. If the
// facts came from the database, handleConflict checks whether the project still exists.
func (m *creation) handleConflict(ctx context.Context, conflict error) error {
	if m.order.cached {
		m.cachedProject = true
		m.cache.conflicts.Add(m.order.key.ID, m.Ticks())
		return conflict
	}
	if err := usecase.CheckProjectExists(ctx, m.Store, m.order.key); err != nil {
		return err
	}
	return conflict
}

// lookUp reads the facts that a claim needs before its transaction, and caches them. done means that the request needs no transaction.
func (m *creation) lookUp(ctx context.Context) (facts storage.ClaimFacts, done bool, result usecase.Result[ipam.Claim], err error) {
	o := m.order
	if m.cachedProject { // a cached fact must not decide a refusal
		if o.key, err = m.ProjectKey(ctx, m.pass); err != nil {
			return facts, true, result, err
		}
		m.cachedProject, o.claim.ProjectID, o.event.ProjectID = false, o.key.ID, o.key.ID
	}
	return m.findEarlier(ctx, func(ctx context.Context) (storage.ClaimFacts, error) {
		key, spec := o.key, o.claim.Spec
		facts, err := m.classes.LookUp(ctx, m.Store, storage.ClaimQuery{
			Project: key, Name: o.claim.Name, Pool: spec.PoolRef, Class: resolve.ClassQuery(spec), Key: o.request.Key, Now: m.Now(), Generated: o.claim.GeneratedIn != 0,
		})
		if p := facts.Pool; err == nil && p != nil && p.Scope == nil && resolve.MayClaim(key, *p, facts.Granted) {
			m.cache.putPool(key, *p)
		}
		return facts, err
	})
}

// findConcurrentCreate looks up the claim and the key again after a refusal. If two identical requests run at once, the first one may take the last
// block. The second request must then return the first one's result, and not a refusal for lack of room. In the same situation, a PUT with the
// precondition "must not exist" must fail with that precondition.
func (m *creation) findConcurrentCreate(ctx context.Context) (done bool, result usecase.Result[ipam.Claim], err error) {
	o := m.order
	if o.request.Key == "" && !m.put {
		return false, result, nil
	}
	_, done, result, err = m.findEarlier(ctx, func(ctx context.Context) (storage.ClaimFacts, error) {
		return m.Store.ClaimLookup(ctx, storage.ClaimQuery{Project: o.key, Name: o.claim.Name, Key: o.request.Key, Now: m.Now()})
	})
	met := usecase.Settled(err) || ipam.IsCode(err, ipam.CodePreconditionFailed) || ipam.IsCode(err, ipam.CodeOutcomeUnknown)
	return done && met, result, err
}

// findEarlier looks up the facts before a claim is created. It settles two kinds of requests that need no transaction: a request with a repeated key,
// and a request for a name that exists.
//
// It returns an earlier request's result only after that result is durable. This includes the refusal that the name exists. From this refusal, a
// client without a key learns that its first request succeeded.
func (m *creation) findEarlier(ctx context.Context, lookUp func(context.Context) (storage.ClaimFacts, error)) (facts storage.ClaimFacts, done bool, result usecase.Result[ipam.Claim], err error) {
	var refusal error
	err = m.Durably(ctx, func(ctx context.Context) (_ bool, err error) {
		done, result, refusal = false, usecase.Result[ipam.Claim]{}, nil
		if facts, err = lookUp(ctx); err != nil {
			return false, err
		}
		done, result, refusal = m.settleFromEarlier(ctx, facts)
		if !usecase.Settled(refusal) && !ipam.IsCode(refusal, ipam.CodeAlreadyExists) && !ipam.IsCode(refusal, ipam.CodePreconditionFailed) {
			return false, refusal
		}
		return done && !m.order.request.DryRun, nil
	})
	if err != nil {
		return facts, true, usecase.Result[ipam.Claim]{}, err
	}
	return facts, done, result, refusal
}

func (m *creation) settleFromEarlier(ctx context.Context, facts storage.ClaimFacts) (done bool, result usecase.Result[ipam.Claim], err error) {
	have, c, r := facts.Claim, m.order.claim, m.order.request
	if facts.StoredResponse != nil {
		made, err := usecase.DecodeReplay(ctx, r, *facts.StoredResponse, func(a storage.StoredResponse) ([]ipam.Claim, error) { return decodeResponse([]*order{m.order}, a) })
		// The name was read before the key, so read the claim again.
		if err == nil && (have == nil || have.UID != made[0].UID) {
			err = m.StillHeld(ctx, made)
		}
		if err != nil {
			return true, result, err
		}
		return true, usecase.Result[ipam.Claim]{Value: made[0], Replayed: true}, nil
	}
	if have == nil {
		err = r.CheckPut(false, ipam.ID{})
		return err != nil, result, err
	}
	if have.UID == c.UID { // this request's own claim: an earlier COMMIT succeeded without a response
		return true, usecase.Result[ipam.Claim]{Value: *have}, nil
	}
	if !m.put {
		return true, result, claimExists(c, "/metadata/name")
	}
	if err := r.CheckPut(true, have.Revision); err != nil {
		return true, result, err
	}
	if diff := differences(*have, c); len(diff) > 0 {
		e := ipam.Errorf(ipam.CodeAlreadyExists, "Claim %s exists with another spec. Request the existing values, or use another name.", c.Ref())
		e.Fields = diff
		return true, result, e
	}
	return true, usecase.Result[ipam.Claim]{Value: *have, Existed: true}, nil
}

func claimExists(c ipam.Claim, pointer string) error {
	return ipam.Errorf(ipam.CodeAlreadyExists, "Claim %s exists already.", c.Ref()).At(pointer, "is taken; choose another name, or use PUT: it returns the existing claim if the spec is the same.")
}

type preparer struct {
	*usecase.Core

	regions *regions.Regions
}

// claim validates a claim and sets every value that must be the same in each attempt.
func (s preparer) claim(c ipam.Claim, key storage.ProjectKey, who tenancy.Principal) (ipam.Claim, error) {
	if err := usecase.CheckNew(&c.Metadata, c.Spec.CheckNew()); err != nil {
		return c, err
	}
	c.Metadata = s.NewMetadata(c.Metadata, key.Name, s.Region, who)
	s.regions.NameHere(&c.Metadata)
	c.ProjectID = key.ID
	c.AllocationID, c.Consumers = allocationOf(c.UID), len(c.Spec.Consumers)
	return c, nil
}

// allocationOf returns the id of a claim's new allocation. A claim on a retained allocation keeps that allocation's id.
func allocationOf(claim ipam.ID) ipam.ID { return ipam.DerivedID(claim, "allocation") }
