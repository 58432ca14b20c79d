package claims

import (
	"context"
	"errors"
	"net/netip"

	"github.com/carve-ipam/carve/internal/alloc/carve"
	"github.com/carve-ipam/carve/internal/alloc/pools"
	"github.com/carve-ipam/carve/internal/alloc/quota"
	"github.com/carve-ipam/carve/internal/alloc/resolve"
	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/ipam"
)

// bindFirst binds the first claim of a scope: one transaction carves the scope's pool and the claim from it, or leaves nothing behind. Who
// comes second finds the pool there and draws from it.
func (s *Claims) bindFirst(ctx context.Context, res *resolve.Resolved, room []ipam.Pool, b binding) (ipam.Claim, error) {
	one := batch{key: b.key, request: b.request, single: true, items: []batchItem{{
		claim: b.claim, random: b.random, event: b.event, choice: &choice{Resolved: *res, room: room, items: []int{0}},
	}}}
	byPool := make(map[ipam.ID][]*choice, len(room))
	for _, p := range room {
		byPool[p.UID] = []*choice{one.items[0].choice}
	}
	bound, err := s.runBatchBorrowing(ctx, &one, byPool)
	if err = s.Refusals.Counted(ctx, err); err != nil {
		if lack, ok := errors.AsType[*quota.QuotaLack](err); ok && lack != nil {
			res.QuotaRefused(err)
		}
		return ipam.Claim{}, err
	}
	for _, p := range room { // of several spaces, another one may cover the same addresses: a share need not be exact
		if !b.request.DryRun && p.Block.Contains(bound[0].Block.Addr()) {
			s.resolve.Shares.Took(p, *res.First.Class.Spec.PoolPrefixLength)
		}
	}
	res.ChosePool(bound[0])
	return bound[0], nil
}

// openScope opens the pool of an item's scope: as it was carved before in this transaction, or carved now from a parent. nil: that has
// no room.
func (run *batchRun) openScope(ctx context.Context, it batchItem, parent ipam.Pool) (*batchPool, error) {
	sc, key := it.choice.First, run.batch.key
	if t := run.scoped[sc.ID()]; t != nil {
		return t, nil
	}
	if _, found, err := storage.IgnoreNotFound(run.tx.ScopedPool(ctx, sc.Class.UID, key.ID, sc.Text)); err != nil || found {
		if found { // somebody else was first: look again
			err = &storage.Conflict{}
		}
		return nil, err
	}
	t, err := run.open(ctx, parent)
	if err != nil || t.gone {
		return nil, err
	}
	wish, fits := t.scopes[sc.ID()]
	if !fits || !sc.MayCarve(t.pool) {
		return nil, nil //nolint:nilnil // said above
	}
	uid, now := ipam.DerivedID(it.claim.UID, "scoped pool"), run.tx.Now()
	made := &batchPool{wishes: map[int]space.Wish{}}
	like := sc.Pool(t.pool, netip.PrefixFrom(t.pool.Block.Addr(), wish.Bits), uid, now)
	if err := run.ledger.Take(ctx, key, quota.PoolPlace(like), pools.OnePool); err != nil {
		return nil, err
	}
	block, ok := t.carver.Take(wish)
	if !ok {
		run.ledger.Give(key.ID, quota.PoolPlace(like), pools.OnePool)
		return nil, nil //nolint:nilnil // said above
	}
	t.taken = append(t.taken, granted{wish, block})
	made.pool = sc.Pool(t.pool, block, uid, now)
	if made.carver, err = carve.NewCarver(storage.PoolContainer(made.pool), nil, []netip.Prefix{block}); err != nil {
		return nil, err
	}
	hold := pools.PoolHold(made.pool, pools.Source{Container: storage.PoolContainer(t.pool), SpaceID: t.pool.SpaceID, Space: t.pool.Space, Parent: &t.pool})
	made.made = &hold
	run.scoped[sc.ID()] = made
	run.order = append(run.order, made)
	return made, nil
}

// scopedPoolEvent records a scoped pool in the trail of its owner.
func scopedPoolEvent(p ipam.Pool) (ipam.Event, error) {
	return trail.Effected(pools.KeeperEvent(p, p.CreatedAt), nil, trail.RecordedPool(p))
}

// occupied unmarks a scoped pool that had been found empty, if one of the claims is made in it.
func occupied(p ipam.Pool, claims []ipam.Claim) []storage.ScopedMark {
	if p.Scope == nil || p.EmptySince.IsZero() {
		return nil
	}
	for _, c := range claims {
		if c.PoolID == p.UID {
			return []storage.ScopedMark{{PoolID: p.UID, Was: p.EmptySince}}
		}
	}
	return nil
}

// noneLeftInScope says that a scope's pool, which this batch would carve, has no room for all of the batch.
func noneLeftInScope(class ipam.Class, bits int) error {
	e := ipam.Errorf(ipam.CodePoolExhausted, "The pool of this scope of class %s is a /%d, and the claims before this one leave no room in it.", class.Ref(), bits)
	e.Figures.Class = class.Ref().String()
	return e
}
