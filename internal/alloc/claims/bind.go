package claims

import (
	"context"
	"errors"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/quota"
	"github.com/carve-ipam/carve/internal/alloc/refusals"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/resolve"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// binder binds single claims. Every claim is bound in a transaction that an attempt plans. A claim shares the transaction with other claims on the
// pool, or has its own.
type binder struct {
	*usecase.Core

	regions  *regions.Regions
	resolver *resolve.Resolver
	refusals *refusals.Refusals
	rooms    *roomFinder
	groups   *groups
	atomic   *atomicBatch
}

// serve resolves a claim and binds it. If it refuses the claim, the refusal contains the steps that led to it. serve sets the order's choice in every
// case.
func (s *binder) serve(ctx context.Context, o *order, facts storage.ClaimFacts) (bound ipam.Claim, err error) {
	o.choice = &choice{}
	res := &o.choice.Resolved
	*res, err = s.resolver.Resolve(ctx, o.key, o.claim.Spec, facts, s.resolver.Candidates)
	switch {
	case err != nil && o.cached: // a cached fact must not decide a refusal
		return ipam.Claim{}, &storage.Conflict{}
	case err != nil:
	case o.claim.Spec.AllocationRef != "":
		bound, err = rebind(ctx, s.Core, o)
	case res.First != nil:
		bound, err = s.bindFirst(ctx, o)
	default:
		bound, err = s.bind(ctx, o)
	}
	return bound, res.Explained(err)
}

// bind tries the pools in turn. If every pool is full, it returns one refusal with figures for all pools. If a quota is too small, bind skips the
// pools that the quota covers. It returns the quota's refusal if no other pool serves the claim.
func (s *binder) bind(ctx context.Context, o *order) (ipam.Claim, error) {
	res := &o.choice.Resolved
	t := newTrial(o)
	for tried := false; len(t.pools) > 0; tried = true {
		if err := s.dropFull(ctx, &t, tried); err != nil {
			return ipam.Claim{}, err
		}
		if len(t.pools) == 0 {
			t.last = regions.ErrNoRoom
			break
		}
		p, room := t.pools[0], t.pools[:1:1]
		t.pools = t.pools[1:]
		if w, err := res.Ask.BlockSpec(p); err == nil && t.lacks.Refuse(quota.ClaimSubject(p, res.Ask.ClassRef()), quota.ClaimUsage(p, w.Bits)) {
			continue
		}
		bound, err := s.bindIn(ctx, o, room)
		if err == nil {
			if !o.request.DryRun {
				s.resolver.Shares.Add(p, bound.Block.Bits())
			}
			return bound, nil
		}
		more := t.failed(p, err)
		// A dry run borrows no blocks from other regions. So its failure does not prove that the pool is full.
		if isFull(err) && !o.request.DryRun {
			s.rooms.recordFull(p, res.Bits(p))
		}
		if !more {
			return bound, res.Unnamed(err)
		}
	}
	return ipam.Claim{}, s.refuse(ctx, &t)
}

// dropFull removes the pools without room from the untried pools. It does so at most once, before bind tries a pool that is probably full.
func (s *binder) dropFull(ctx context.Context, t *trial, tried bool) (err error) {
	res := &t.order.choice.Resolved
	if t.looked || !tried && !s.rooms.likelyFull(t.pools[0], res.Bits(t.pools[0])) {
		return nil
	}
	t.looked = true
	if t.pools, err = s.rooms.withRoom(ctx, res, t.pools); err == nil && len(t.pools) == 0 && t.order.cached && !tried {
		// The pools come from the cache, and no transaction has checked that they are still the right pools.
		return &storage.Conflict{}
	}
	return err
}

// refuse returns the reason why no pool serves a claim.
func (s *binder) refuse(ctx context.Context, t *trial) error {
	res := &t.order.choice.Resolved
	switch {
	case t.overQuota != nil:
		return t.overQuota
	case t.closed != nil:
		return res.Unnamed(t.closed)
	case len(t.all) == 0:
		return res.NoPoolLeft()
	case isFull(t.last) && len(res.Pools) > 1:
		return s.refusals.Exhausted(ctx, res.Viewer(), t.all, res.Bits(t.all[len(t.all)-1]), 0)
	default:
		return res.Unnamed(t.last)
	}
}

// trial records a claim's progress through the pools that may serve it.
type trial struct {
	order     *order
	all       []ipam.Pool // pools that a refusal may name
	pools     []ipam.Pool // pools not tried yet
	looked    bool        // the full pools were already removed, or a scan is not worth its cost
	lacks     quota.QuotaLacks
	overQuota error // the last refusal by a quota
	closed    error // the last refusal by a pool whose rows in a region must not be used (regions.Fence)
	last      error // the last refusal for another reason
}

func newTrial(o *order) trial {
	res := &o.choice.Resolved
	return trial{order: o, all: res.Pools, pools: res.Pools, looked: len(res.Pools) < 2 || res.Ask.Spec.Exact().IsValid()}
}

// failed records the reason why a pool did not serve the claim, and reports whether another pool may serve it.
func (t *trial) failed(p ipam.Pool, err error) (more bool) {
	res := &t.order.choice.Resolved
	if lack, ok := errors.AsType[*quota.QuotaLack](err); ok {
		t.lacks, t.overQuota = append(t.lacks, lack), err
		res.QuotaRefused(err)
		return true
	}
	// If the pool is gone, or the claim may not use it any more, a refusal must not name the pool.
	if ipam.IsCode(err, ipam.CodeNotFound) {
		t.all = slices.DeleteFunc(slices.Clone(t.all), func(a ipam.Pool) bool { return a.UID == p.UID })
		return true
	}
	res.SkippedPool(p, err)
	// If a region must not use the pool, it is unknown whether this pool has room. Another pool may serve the claim.
	if regions.IsFence(err) && len(t.all) > 1 {
		t.closed = err
		return true
	}
	t.last = err
	return isFull(err) || len(t.all) > 1 && mayTryNextPool(err)
}

// bindIn binds the claim in one pool. candidates contains only this pool. An exact CIDR is bound in the region that holds it. Any other block comes
// from the region that serves the pool. If that region has no room, it borrows a block from other regions.
func (s *binder) bindIn(ctx context.Context, o *order, candidates []ipam.Pool) (ipam.Claim, error) {
	exact, dryRun, freed := o.claim.Spec.Exact(), o.request.DryRun, false
	return usecase.Rounds(func(int) (bound ipam.Claim, again bool, err error) {
		if exact.IsValid() && candidates[0].MultiRegion() {
			p, err := s.regions.LocateExact(ctx, candidates[0], exact, dryRun)
			if err != nil {
				return bound, false, err
			}
			candidates = []ipam.Pool{p}
		}
		bound, err = s.bindAt(ctx, o, candidates)
		lack, ok := errors.AsType[*regions.NoRoom](err)
		if !ok {
			return bound, false, err
		}
		more, err := s.regions.MakeRoom(ctx, lack, dryRun)
		if free, failed := s.regions.InTransit(ctx, candidates[0], exact, dryRun); free && failed == nil {
			return bound, true, nil
		}
		switch {
		case err != nil:
			return bound, false, err
		case more == nil && (lack.Request.Exact.IsValid() || len(o.choice.Pools) == 1):
			err := s.refusals.Refusal(ctx, o.choice.Viewer(), lack, resolve.ExactPointer(o.claim.Spec))
			if freed || !hasRoomAgain(err, lack.Request) {
				return bound, false, err
			}
			freed = true // retry once, so that a refusal does not contain figures that show room
			return bound, true, nil
		// bind reads the figures for all pools once, after it has tried all pools.
		case more == nil:
			return bound, false, noneFree(candidates[0], lack.Request.Bits)
		}
		candidates = []ipam.Pool{*more}
		return bound, true, nil
	})
}

// hasRoomAgain reports whether the pool has room again after a refusal. The refusal's figures are counted after the refusal itself, so they may show
// a large enough block.
func hasRoomAgain(err error, wish freespace.BlockRequest) bool {
	e, ok := errors.AsType[*ipam.Error](err)
	if !ok || !isFull(err) || wish.Exact.IsValid() {
		return false
	}
	largest := e.Figures.LargestFreePrefixLength
	return errors.Is(err, refusals.ErrCameFree) || largest != nil && *largest <= wish.Bits
}

// bindAt binds the claim in the region that serves the pool.
func (s *binder) bindAt(ctx context.Context, o *order, candidates []ipam.Pool) (ipam.Claim, error) {
	o.choice.candidates = candidates
	bound, err := s.groups.join(ctx, candidates[0], o)
	// If a cached pool is not found, another pool has replaced it since.
	if o.cached && ipam.IsCode(err, ipam.CodeNotFound) {
		return bound, &storage.Conflict{}
	}
	return bound, err
}

// noneFree returns the refusal by one full pool, for a claim that several pools may serve.
func noneFree(p ipam.Pool, bits int) error {
	return ipam.Errorf(ipam.CodePoolExhausted, "Pool %s has no free block of length /%d.", p.Ref(), bits)
}

// bindFirst binds a scope's first claim. A scope is one combination of values for which a class has its own pool. One transaction carves the scope's
// pool and the claim's block, or changes nothing. If a second claim runs at the same time, it finds this pool and takes its block from there.
func (s *binder) bindFirst(ctx context.Context, o *order) (bound ipam.Claim, err error) {
	c := o.choice
	if c.candidates = c.Pools; len(c.Pools) > 1 && !c.Ask.Spec.Exact().IsValid() {
		if c.candidates, err = s.rooms.withRoom(ctx, &c.Resolved, c.Pools); err != nil {
			return bound, err
		}
	}
	// If all pools are full, the transaction returns the refusal. It first checks whether another request has carved the scope's pool from the last
	// room.
	if len(c.candidates) == 0 {
		c.candidates = c.Pools[:1]
	}
	all, err := s.atomic.bind(ctx, newBatch(scopeTx, []*order{o}))
	if err = s.refusals.WithFigures(ctx, err); err != nil {
		if _, ok := errors.AsType[*quota.QuotaLack](err); ok {
			c.QuotaRefused(err)
		}
		return bound, err
	}
	return all[0], nil
}

// isFull reports whether an error means that the pool has no room now.
func isFull(err error) bool {
	return ipam.IsCode(err, ipam.CodePoolExhausted) || ipam.IsCode(err, ipam.CodeExhaustedByCooldown)
}

// mayTryNextPool reports whether the binder may try the next pool after a refusal by one pool.
func mayTryNextPool(err error) bool {
	switch ipam.CodeOf(err) {
	case ipam.CodeBlockTaken, ipam.CodeAllocationRetained, ipam.CodePrefixLengthRejected, ipam.CodeNeverSatisfiable, ipam.CodePoolDraining:
		return true
	default:
		return isFull(err)
	}
}
