package claims

import (
	"context"
	"errors"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/quota"
	"github.com/carve-ipam/carve/internal/alloc/refusals"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/resolve"
	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// serve resolves a claim and binds it, or says why not: a refusal has the steps that led to it.
func (s *Claims) serve(ctx context.Context, key storage.ProjectKey, c ipam.Claim, facts look, e ipam.Event, random ipam.ID, r usecase.Request) (ipam.Claim, resolve.Resolved, error) {
	res, err := s.resolve.Resolve(ctx, key, c.Spec, facts.ClaimFacts, s.resolve.Candidates)
	if err != nil && facts.remembered {
		return ipam.Claim{}, res, &storage.Conflict{} // not to be refused for what is remembered
	}
	if err != nil {
		err = res.Explained(err)
		return ipam.Claim{}, res, err
	}
	var bound ipam.Claim
	if c.Spec.AllocationRef != "" {
		if bound, err = s.rebind(ctx, key, c, e, r); err == nil {
			res.ChoseAllocation(bound)
		}
	} else {
		bound, err = s.bind(ctx, &res, binding{key: key, claim: c, event: e, random: random, request: r, seen: facts.seen()})
	}
	err = res.Explained(err)
	return bound, res, err
}

// binding is one claim on its way to a block.
type binding struct {
	key     storage.ProjectKey
	claim   ipam.Claim
	event   ipam.Event
	random  ipam.ID
	request usecase.Request
	seen    seen
}

// bind tries the pools in turn. Only when every one is exhausted is that the answer, with the figures of all. A quota that has too
// little left stops the search in the pools that it covers, and is the answer when no other pool helps.
func (s *Claims) bind(ctx context.Context, res *resolve.Resolved, b binding) (ipam.Claim, error) {
	if res.First != nil {
		return s.bindScope(ctx, res, b)
	}
	all, pools := res.Pools, res.Pools
	var lacks quota.QuotaLacks
	var last, overQuota, closed error
	looked := len(pools) < 2 || res.Ask.Spec.Exact().IsValid() // nothing to look for
	for tried := false; len(pools) > 0; tried = true {
		if !looked && (tried || s.fulls.likely(pools[0], res.Bits(pools[0]), s.Ticks())) {
			looked = true
			var err error
			if pools, err = s.withRoom(ctx, res, pools); err != nil {
				return ipam.Claim{}, err
			}
			if len(pools) == 0 && b.seen.remembered && !tried { // no transaction has looked whether these are the pools
				return ipam.Claim{}, &storage.Conflict{}
			}
			if len(pools) == 0 {
				last = regions.ErrNoRoom
				break
			}
		}
		p := pools[0]
		pools = pools[1:]
		if w, err := res.Ask.Wanted(p); err == nil && lacks.Stop(quota.ClaimPlace(p, res.Ask.ClassRef()), quota.ClaimUsage(p, w.Bits)) {
			continue
		}
		bound, err := s.bindIn(ctx, res, p, b)
		if err == nil {
			if !b.request.DryRun {
				s.resolve.Shares.Took(p, bound.Block.Bits())
			}
			res.ChosePool(bound)
			return bound, nil
		}
		if lack, ok := errors.AsType[*quota.QuotaLack](err); ok {
			lacks, overQuota = append(lacks, lack), err
			res.QuotaRefused(err)
			continue
		}
		if ipam.IsCode(err, ipam.CodeNotFound) { // gone, or not to be used any more: not to be named
			all = slices.DeleteFunc(slices.Clone(all), func(a ipam.Pool) bool { return a.UID == p.UID })
			continue
		}
		res.SkippedPool(p, err)
		if regions.IsFence(err) && len(all) > 1 { // another pool may do; that it may have room is not known
			closed = err
			continue
		}
		if full(err) {
			s.fulls.note(p, res.Bits(p), s.Ticks())
		}
		if !full(err) && !(len(all) > 1 && triesNext(err)) {
			return bound, res.Unnamed(err)
		}
		last = err
	}
	switch {
	case overQuota != nil:
		return ipam.Claim{}, overQuota
	case closed != nil:
		return ipam.Claim{}, res.Unnamed(closed)
	case len(all) == 0:
		return ipam.Claim{}, res.NoPoolLeft()
	case full(last) && len(res.Pools) > 1:
		return ipam.Claim{}, s.Refusals.Exhausted(ctx, res.Telling(), all, res.Bits(all[len(all)-1]), 0)
	default:
		return ipam.Claim{}, res.Unnamed(last)
	}
}

// bindIn binds the claim in one pool: where the very block is, or else in the region that the pool is drawn from, which borrows when it has no room.
func (s *Claims) bindIn(ctx context.Context, res *resolve.Resolved, p ipam.Pool, b binding) (ipam.Claim, error) {
	exact, freed := b.claim.Spec.Exact(), false
	for range usecase.MaxRounds {
		if exact.IsValid() && p.Several() {
			var err error
			if p, err = s.regions.Gathered(ctx, p, exact, b.request.DryRun); err != nil {
				return ipam.Claim{}, err
			}
		}
		bound, err := s.bindAt(ctx, res, p, b)
		lack, ok := errors.AsType[*regions.NoRoom](err)
		if !ok {
			return bound, err
		}
		again, err := s.regions.MoreRoom(ctx, lack, b.request.DryRun)
		if free, failed := s.regions.OnItsWay(ctx, p, exact, b.request.DryRun); free && failed == nil {
			continue
		}
		switch {
		case err != nil:
			return bound, err
		case again == nil && (lack.Wish.Exact.IsValid() || len(res.Pools) == 1):
			err := s.Refusals.Refusal(ctx, res.Telling(), lack.Pool, lack.Wish, resolve.ExactPointer(b.claim.Spec))
			if freed || !roomSince(err, lack.Wish) {
				return bound, err
			}
			freed = true // not to be refused with figures that say otherwise
			continue
		case again == nil: // the figures of all pools are read once, when all have been tried
			return bound, noneFree(p, lack.Wish.Bits)
		}
		p = *again
	}
	return ipam.Claim{}, storage.Contention(nil)
}

// roomSince reports whether the figures of a refusal, which were counted after it, have room for what was refused.
func roomSince(err error, wish space.Wish) bool {
	e, ok := errors.AsType[*ipam.Error](err)
	if !ok || !full(err) || wish.Exact.IsValid() {
		return false
	}
	largest := e.Figures.LargestFreePrefixLength
	return errors.Is(err, refusals.ErrCameFree) || e.Figures.CountedAt.IsZero() && largest != nil && *largest <= wish.Bits
}

// bindAt binds the claim in the region that a pool is drawn from.
func (s *Claims) bindAt(ctx context.Context, res *resolve.Resolved, p ipam.Pool, b binding) (ipam.Claim, error) {
	bound, err := s.join(ctx, p, &member{
		ctx: ctx, key: b.key, ask: res.Ask, claim: b.claim, event: b.event, random: b.random, request: b.request, create: true, seen: b.seen,
	})
	if b.seen.remembered && ipam.IsCode(err, ipam.CodeNotFound) { // the pool is another one by now
		return bound, &storage.Conflict{}
	}
	return bound, err
}

// noneFree says of one pool of several that it has no room.
func noneFree(p ipam.Pool, bits int) error {
	return ipam.Errorf(ipam.CodePoolExhausted, "Pool %s has no free block of length /%d left.", p.Ref(), bits)
}

// bindScope binds the first claim of a scope.
func (s *Claims) bindScope(ctx context.Context, res *resolve.Resolved, b binding) (ipam.Claim, error) {
	pools := res.Pools
	if len(pools) > 1 && !res.Ask.Spec.Exact().IsValid() {
		var err error
		if pools, err = s.withRoom(ctx, res, pools); err != nil {
			return ipam.Claim{}, err
		}
	}
	if len(pools) == 0 { // the transaction says so: it looks first whether somebody has carved the scope's pool from the last room
		pools = res.Pools[:1]
	}
	return s.bindFirst(ctx, res, pools, b)
}

// full: the pool has no room now.
func full(err error) bool {
	return ipam.IsCode(err, ipam.CodePoolExhausted) || ipam.IsCode(err, ipam.CodeExhaustedByCooldown)
}

// triesNext: this pool cannot, another one may.
func triesNext(err error) bool {
	switch ipam.CodeOf(err) {
	case ipam.CodeBlockTaken, ipam.CodeAllocationRetained, ipam.CodePrefixLengthRejected, ipam.CodeNeverSatisfiable:
		return true
	default:
		return full(err)
	}
}
