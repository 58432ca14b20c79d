package alloc

import (
	"context"
	"errors"
	"net/netip"

	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// eligiblePage is how many pools one read of a selector's candidates fetches.
const eligiblePage = 500

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
	random := ipam.NewID()
	for range maxRounds {
		facts, err := s.store.ClaimLookup(ctx, ClaimQuery{Project: key, Name: c.Name, Pool: c.Spec.PoolRef.Name, Key: r.Key, Now: s.now()})
		if err != nil {
			return none, err
		}
		if done, answer, err := settledBefore(facts, c, r, put); done {
			if ipam.IsCode(err, ipam.CodeAlreadyExists) && c.Rename() {
				continue // a generated name that is taken is made anew
			}
			return answer, err
		}
		pools, err := s.eligible(ctx, s.store, key, c.Spec, facts.Pool)
		if err != nil {
			return none, err
		}
		bound, err := s.bind(ctx, key, c, pools, random, r)
		if _, conflict := asConflict(err); conflict {
			continue // somebody made this claim, or used this key, since we looked
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
	if ref := c.Spec.PoolRef; ref != (ipam.Ref{}) && ref.Project != key.Name {
		return c, at(ipam.Errorf(ipam.CodeNotFound, "Pool %s was not found.", ref), "/spec/poolRef")
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

// eligible is the pools that may serve a claim, in the order in which they are tried: the pool of poolRef, or those of the
// project that match poolSelector, by name, of the right family, whose bounds admit the length.
func (s *Service) eligible(ctx context.Context, read Reader, key ProjectKey, spec ipam.ClaimSpec, named *ipam.Pool) ([]ipam.Pool, error) {
	switch {
	case spec.AllocationRef != "":
		return nil, nil
	case spec.PoolSelector == nil:
		if named == nil {
			return nil, at(ipam.Errorf(ipam.CodeNotFound, "Pool %s was not found.", spec.PoolRef), "/spec/poolRef/name")
		}
		if _, err := wanted(spec, *named); err != nil {
			return nil, err
		}
		return []ipam.Pool{*named}, nil
	}
	var fit []ipam.Pool
	var refused error
	for after, more := "", true; more; {
		page, err := read.PoolListByLabels(ctx, key, spec.PoolSelector.MatchLabels, after, eligiblePage)
		if err != nil {
			return nil, err
		}
		for _, p := range page {
			after = p.Name
			if !spec.PoolSelector.Matches(p.Labels) {
				continue
			}
			if _, err := wanted(spec, p); err != nil {
				refused = err
				continue
			}
			p.Labels, p.Annotations = nil, nil // there may be thousands of them
			fit = append(fit, p)
		}
		more = len(page) == eligiblePage
	}
	switch {
	case len(fit) > 0:
		return fit, nil
	case refused != nil: // pools match, but none could ever serve this: the last one's reason stands for all
		return nil, refused
	default:
		return nil, ipam.Errorf(ipam.CodeNoPoolMatches, "No pool of project %q matches the selector.", key.Name).
			At("/spec/poolSelector", "matches no pool.")
	}
}

// want is what a claim asks of one pool.
type want struct {
	exact netip.Prefix
	bits  int
}

// wanted resolves what a claim asks of a pool, or says why the pool can never serve it.
func wanted(spec ipam.ClaimSpec, p ipam.Pool) (want, error) {
	if exact := spec.Exact(); exact.IsValid() {
		return want{exact: exact, bits: exact.Bits()}, p.AdmitExact(exactPointer(spec), exact)
	}
	if spec.Family != "" && spec.Family != p.Family() {
		return want{}, ipam.Errorf(ipam.CodeFamilyMismatch, "Pool %s is %s; %s was asked for.", p.Ref(), p.Family(), spec.Family).
			At("/spec/ipFamily", "must be %s for this pool.", p.Family())
	}
	bits := spec.PrefixLength
	if bits == nil {
		bits = p.Spec.Allocation.DefaultPrefixLength
	}
	if bits == nil {
		return want{}, ipam.Invalid("/spec/prefixLength", "is required: pool %s has no defaultPrefixLength.", p.Ref())
	}
	return want{bits: *bits}, p.Admit("/spec/prefixLength", *bits)
}

// exactPointer is the field that asks for a very block.
func exactPointer(spec ipam.ClaimSpec) string {
	if spec.Address.IsValid() {
		return "/spec/address"
	}
	return "/spec/cidr"
}

// bind tries the pools in turn. Only when every one is exhausted is that the answer, with the figures of all.
func (s *Service) bind(ctx context.Context, key ProjectKey, c ipam.Claim, all []ipam.Pool, random ipam.ID, r Request) (ipam.Claim, error) {
	if c.Spec.AllocationRef != "" {
		return s.rebind(ctx, key, c, r)
	}
	pools, last, err := s.withRoom(ctx, all, c.Spec)
	if err != nil {
		return ipam.Claim{}, err
	}
	for _, p := range pools {
		m := &member{ctx: ctx, key: key, claim: c, random: random, request: r, create: true}
		bound, err := s.join(ctx, p, m)
		if lack, ok := errors.AsType[*noRoom](err); ok {
			err = refusal(ctx, s.store, p, lack.wish, exactPointer(c.Spec), key)
		}
		if !ipam.IsCode(err, ipam.CodePoolExhausted) && !(len(all) > 1 && triesNext(err)) {
			return bound, err
		}
		last = err
	}
	if len(all) == 1 {
		return ipam.Claim{}, last
	}
	return ipam.Claim{}, s.exhaustedAll(ctx, all, c.Spec, last)
}

// withRoom leaves the pools that have a free block which is large enough, so that a claim need not open a transaction on each
// of a thousand full pools. The others were tried by that look; full stands for them when nobody has room.
func (s *Service) withRoom(ctx context.Context, pools []ipam.Pool, spec ipam.ClaimSpec) (room []ipam.Pool, full error, err error) {
	if len(pools) < 2 || spec.Exact().IsValid() {
		return pools, nil, nil
	}
	ask := make([]RoomQuery, 0, len(pools))
	for _, p := range pools {
		w, err := wanted(spec, p)
		if err != nil {
			continue
		}
		ask = append(ask, RoomQuery{Container: PoolContainer(p), Bits: w.bits})
	}
	has, err := s.store.RoomIn(ctx, ask)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range pools {
		if has[p.UID] {
			room = append(room, p)
		}
	}
	return room, ipam.Errorf(ipam.CodePoolExhausted, "None of the pools has room."), nil
}

// triesNext: this pool cannot, another one may.
func triesNext(err error) bool {
	switch ipam.CodeOf(err) {
	case ipam.CodePoolExhausted, ipam.CodeBlockTaken, ipam.CodeAllocationRetained, ipam.CodeNotFound,
		ipam.CodePrefixLengthRejected, ipam.CodeNeverSatisfiable:
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
		Revision: c.Revision, CreatedAt: c.CreatedAt, UpdatedAt: c.CreatedAt, CreatedBy: c.CreatedBy,
	}
}
