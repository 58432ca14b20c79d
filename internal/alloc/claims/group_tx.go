package claims

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// groupPlan is what one transaction did for each member, in their order.
type groupPlan struct {
	outcomes []ipam.Claim
	refused  []error
	pool     ipam.Pool // as it was
}

// transact runs the transaction of a round. Whoever follows a member is told that it is over before the member is.
func (s *groups) transact(ctx context.Context, pool ipam.Pool, members []*member) (*groupPlan, error) {
	ctx, ended := s.follow(ctx, pool, members)
	defer ended()
	orders := make([]*order, len(members))
	for i, m := range members {
		orders[i] = m.order
	}
	b := newBatch(inGroup, orders)
	locks := storage.Locks{Alone: []ipam.ID{storage.PoolContainer(pool).Lock()}, Shared: b.projects()} // nobody changes which quotas the projects have
	return usecase.InTx(ctx, s.Core, b.op, locks, b.dryRun(), func(ctx context.Context, tx storage.Tx) (*groupPlan, error) {
		return serveEach(ctx, newAttempt(tx, b, s.Region), pool, len(s.Store.KnownRegions()) > 1)
	})
}

// serveEach serves the orders of a group one by one: releases first, so that what is given back can be given out; then the claims in the order in
// which they came. One that cannot be served is refused, and the others go on. With several regions a claim may be in another one.
func serveEach(ctx context.Context, a *attempt, pool ipam.Pool, several bool) (*groupPlan, error) {
	src, err := a.open(ctx, pool)
	if err != nil {
		return nil, err
	}
	if src.missing {
		return nil, storage.PoolNotFound(pool.Ref())
	}
	plan := &groupPlan{outcomes: a.bound, refused: make([]error, len(a.batch.orders)), pool: src.pool}
	served := 0
	for i, o := range a.batch.orders {
		switch {
		case o.binds():
		case src.away:
			plan.refused[i] = &storage.Conflict{}
		default:
			a.release(i, src)
			served++
		}
	}
	for i, o := range a.batch.orders {
		if !o.binds() {
			continue
		}
		if plan.refused[i], err = a.draw(ctx, i, src); err != nil {
			return nil, err
		}
		if plan.refused[i] == nil {
			served++
		}
	}
	if err := plan.lookAgain(ctx, a, several); err != nil || served == 0 {
		return plan, err
	}
	ch, err := a.changes()
	if err != nil {
		return nil, err
	}
	return plan, a.tx.Write(ctx, ch)
}

// lookAgain makes those who are refused, and for whose name and key nobody has looked yet, look themselves if one of them is in use: that is
// what they are to be told.
func (plan *groupPlan) lookAgain(ctx context.Context, a *attempt, several bool) error {
	var unseen []int
	var claims, keys []storage.NameRef
	for i, o := range a.batch.orders {
		_, looks := storage.AsConflict(plan.refused[i])
		if plan.refused[i] == nil || looks || !o.remembered {
			continue
		}
		if several { // a claim of the name may be in another region: the look-up finds it
			plan.refused[i] = &storage.Conflict{}
			continue
		}
		unseen, claims = append(unseen, i), append(claims, o.name())
		if o.request.Key != "" {
			keys = append(keys, o.answerKey())
		}
	}
	if len(unseen) == 0 {
		return nil
	}
	taken, used, err := a.tx.Taken(ctx, claims, keys)
	if err != nil {
		return err
	}
	for _, i := range unseen {
		if o := a.batch.orders[i]; taken[o.name()] || o.request.Key != "" && used[o.answerKey()] {
			plan.refused[i] = &storage.Conflict{}
		}
	}
	return nil
}
