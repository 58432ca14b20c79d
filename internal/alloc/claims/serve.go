package claims

import (
	"context"
	"errors"

	"github.com/carve-ipam/carve/internal/alloc/quota"
	"github.com/carve-ipam/carve/internal/alloc/refusals"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/resolve"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// errFewRead ends an attempt that has read only a few free rows, and found no room in them for a random block request.
var errFewRead = errors.New("too few free rows were read")

// serveAll binds all orders in a batch for one request, or returns the first refusal. Each order is one claim to bind.
func (a *attempt) serveAll(ctx context.Context) error {
	if err := a.readUsers(ctx); err != nil {
		return err
	}
	for i, o := range a.batch.orders {
		if err := a.users.Admit(o.key.ID, o.claim.Spec.Consumers); err != nil {
			return a.batch.explain(err, i)
		}
		if err := a.serve(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// serve binds order i in its first pool that has room, within the quotas. If no pool serves the order, serve returns the refusal.
func (a *attempt) serve(ctx context.Context, i int) error {
	c := a.batch.orders[i].choice
	var lacks quota.QuotaLacks
	var overQuota error
	for _, p := range c.candidates {
		if len(lacks) > 0 && c.First == nil {
			if w, err := c.Ask.BlockSpec(p); err == nil && lacks.Refuse(quota.ClaimSubject(p, c.Ask.ClassRef()), quota.ClaimUsage(p, w.Bits)) {
				continue
			}
		}
		var src *openPool
		var err error
		if c.First == nil {
			src, err = a.open(ctx, p)
		} else { // the pool for the order's scope, carved from this one if necessary
			src, err = a.openScope(ctx, i, p)
		}
		if err == nil && src != nil && c.Ask.PoolAlone {
			c.pool = src.pool
			return nil
		}
		if err == nil && src != nil && !src.missing {
			var refused error
			if refused, err = a.draw(ctx, i, src); err == nil && refused == nil {
				return nil
			}
			if _, again := storage.AsConflict(refused); again || ipam.IsCode(refused, ipam.CodeQuotaExceeded) {
				err = refused
			}
		}
		if lack, ok := errors.AsType[*quota.QuotaLack](err); ok {
			lacks, overQuota = append(lacks, lack), err
			continue
		}
		if err != nil {
			return err
		}
	}
	if overQuota != nil {
		return a.batch.explain(overQuota, i)
	}
	return a.refusal(ctx, i)
}

// explain adds order i's steps to a refusal. For a list of claims, it also adds the index i.
func (b *batch) explain(err error, i int) error {
	err = b.orders[i].choice.Explained(err)
	if b.indexed {
		err = inBatch(err, i, len(b.orders))
	}
	return err
}

// refusal returns the reason why order i is not served. Its figures count the earlier orders' blocks as free, because the refused transaction takes
// nothing.
func (a *attempt) refusal(ctx context.Context, i int) error {
	var (
		c       = a.batch.orders[i].choice
		fit     []ipam.Pool // the pools whose current policy admits the claim
		last    resolve.BlockSpec
		refused error
	)
	if c.First != nil {
		if src := a.scoped[c.First.ID()]; src != nil {
			if _, err := c.Ask.BlockSpec(src.pool); err != nil {
				return a.batch.explain(c.Unnamed(err), i)
			}
			return a.batch.explain(scopeExhausted(c.First.Class, *c.First.Class.Spec.PoolPrefixLength), i)
		}
	}
	for _, pool := range c.Pools {
		if src := a.opened[storage.PoolContainer(pool).Lock()]; src != nil {
			if src.missing || !a.mayDraw(c, src) {
				continue
			}
			pool = src.pool
		}
		w, err := c.BlockSpecOf(pool)
		if err != nil {
			refused = err
			continue
		}
		fit, last = append(fit, pool), w
	}
	switch {
	case len(fit) == 0 && refused == nil:
		return a.batch.explain(c.NoPoolLeft(), i)
	case len(fit) == 0:
		return a.batch.explain(c.Unnamed(refused), i)
	case last.Exact.IsValid():
		err := a.batch.explain(refusals.TakenRefusal(ctx, a.tx, c.Viewer(), fit[len(fit)-1], last.Exact, resolve.ExactPointer(c.Ask.Spec)), i)
		return a.refuseUnlessInTransit(err, fit, last.Exact)
	}
	return a.lacking(i, fit, last.Bits)
}

// lacking returns the refusal for order i when every pool lacks room.
func (a *attempt) lacking(i int, fit []ipam.Pool, bits int) error {
	return &refusals.Lacking{
		Viewer: a.batch.orders[i].choice.Viewer(), Pools: fit, Bits: bits, Complete: func(err error) error { return a.batch.explain(err, i) },
		Item: i, Demands: a.demands(i, fit),
	}
}

// demands returns the blocks that the batch needs from each pool that several regions serve. They are the blocks taken so far, a block for order i,
// and the blocks for later orders.
func (a *attempt) demands(i int, pools []ipam.Pool) (all []regions.Demand) {
	for _, p := range pools {
		w, err := a.batch.orders[i].choice.BlockSpecOf(p)
		if err != nil || !p.MultiRegion() || a.opened[storage.PoolContainer(p).Lock()] == nil {
			continue
		}
		d := regions.Demand{Pool: p, Lengths: []int{w.Bits}}
		for _, src := range a.drawn {
			for _, g := range src.taken {
				switch {
				case src.pool.UID != p.UID:
				case g.request.Exact.IsValid():
					d.Exact = append(d.Exact, g.block)
				default:
					d.Lengths = append(d.Lengths, g.request.Bits)
				}
			}
		}
		d.Later = a.batch.laterWants(i, p)
		all = append(all, d)
	}
	return all
}

// laterWants returns the blocks that the orders after order i need from p. It includes only the orders whose first pool is p.
func (b *batch) laterWants(i int, p ipam.Pool) (wants []regions.LaterWant) {
	for j := i + 1; j < len(b.orders); j++ {
		c := b.orders[j].choice
		if c.First != nil || len(c.candidates) == 0 || c.candidates[0].UID != p.UID {
			continue
		}
		if w, err := c.Ask.BlockSpec(p); err == nil && !w.Exact.IsValid() {
			wants = append(wants, regions.LaterWant{Item: j, Bits: w.Bits, Only: len(c.Pools) == 1})
		}
	}
	return wants
}
