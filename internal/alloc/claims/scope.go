package claims

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/alloc/carve"
	"github.com/carve-ipam/carve/internal/alloc/pools"
	"github.com/carve-ipam/carve/internal/alloc/quota"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/ipam"
)

// openScope opens the pool for an order's scope. A scope is one combination of values for which a class has its own pool. If this transaction has
// already carved the pool, openScope returns it. Otherwise it carves the pool from a parent pool. If the parent pool has no room, it returns nil.
func (a *attempt) openScope(ctx context.Context, i int, known ipam.Pool) (*openPool, error) {
	o := a.batch.orders[i]
	sc := o.choice.First
	if src := a.scoped[sc.ID()]; src != nil {
		return src, nil
	}
	if _, found, err := storage.IgnoreNotFound(a.tx.ScopedPool(ctx, sc.Class.UID, o.key.ID, sc.Text)); err != nil || found {
		if found { // another request was first: repeat the look-up
			err = &storage.Conflict{}
		}
		return nil, err
	}
	parent, err := a.open(ctx, known)
	if err != nil || parent.missing {
		return nil, err
	}
	if parent.away || parent.pool.Draining() != known.Draining() {
		return nil, &storage.Conflict{}
	}
	wish, fits := parent.scopes[sc.ID()]
	if !fits || !sc.MayCarve(parent.pool) {
		return nil, nil //nolint:nilnil // documented above
	}
	uid, now := ipam.DerivedID(o.claim.UID, "scoped pool"), a.tx.Now()
	like := sc.Pool(parent.pool, netip.PrefixFrom(parent.pool.Block.Addr(), wish.Bits), uid, now)
	if err := a.ledger.Take(ctx, o.key, quota.PoolSubject(like), pools.OnePool); err != nil {
		return nil, err
	}
	block, ok := parent.carver.Take(wish)
	if !ok {
		a.ledger.Give(o.key.ID, quota.PoolSubject(like), pools.OnePool)
		return nil, nil //nolint:nilnil // documented above
	}
	parent.taken = append(parent.taken, grantedBlock{wish, block})
	made := &openPool{pool: sc.Pool(parent.pool, block, uid, now)}
	if made.carver, err = carve.NewCarver(storage.PoolContainer(made.pool), nil, []netip.Prefix{block}); err != nil {
		return nil, err
	}
	hold := pools.PoolHold(made.pool, pools.Source{Container: storage.PoolContainer(parent.pool), SpaceID: parent.pool.SpaceID, Space: parent.pool.Space, Parent: &parent.pool})
	made.made = &hold
	if a.scoped == nil {
		a.scoped = map[ipam.ID]*openPool{}
	}
	a.scoped[sc.ID()] = made
	a.drawn = append(a.drawn, made)
	return made, nil
}

// scopedPoolEvent returns the event about a new scope pool, for the trail of the pool's owner.
func scopedPoolEvent(p ipam.Pool) (ipam.Event, error) {
	return trail.Effected(pools.KeeperEvent(p, p.CreatedAt), nil, trail.RecordedPool(p))
}

// occupied returns the change that clears EmptySince in a scope's pool. It returns the change only if one of these claims is in the pool.
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

// scopeExhausted returns the refusal for a batch that does not fit into a new scope pool. The batch would carve that pool itself.
func scopeExhausted(class ipam.Class, bits int) error {
	e := ipam.Errorf(ipam.CodePoolExhausted, "The pool of this scope of class %s is a /%d, and the claims before this one leave no room in it.", class.Ref(), bits)
	e.Figures.Class = class.Ref().String()
	return e
}
