package claims

import (
	"context"
	"errors"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// transact runs the transaction of a round. Whoever follows a member is told that it is over before the member is.
func (s *groups) transact(ctx context.Context, members []*member, pool ipam.Pool) (*attempt, error) {
	if !members[0].request.DryRun && !slices.ContainsFunc(members, (*member).consumes) { // a dry run runs alone
		remembered := s.Store.Remembers(storage.PoolContainer(pool))
		a, err := s.transactAtOnce(ctx, members, []ipam.Pool{pool})
		if !errors.Is(err, storage.ErrForgotten) {
			return a, err
		}
		if remembered {
			s.alone.Add(members[0].lane, s.Ticks())
		}
	}
	ctx, ended := s.follow(tenancy.WithPayer(ctx, account(pool, members)), pool, members)
	defer ended()
	b := groupOf(members)
	return usecase.InTx(ctx, s.Core, b.op, b.groupLocks([]ipam.Pool{pool}), b.dryRun(), func(ctx context.Context, tx storage.Tx) (*attempt, error) {
		a := newAttempt(tx, b, s.Region)
		err := a.serveEach(ctx, members, []ipam.Pool{pool}, len(s.Store.KnownRegions()) > 1)
		return a, err
	})
}

// transactAtOnce serves members from what is remembered of their pools, or ends in storage.ErrForgotten. It serves all of them or refuses all of them: nothing is
// refused for what is remembered, but for want of room, when a read has proved that all is as it is remembered.
func (s *groups) transactAtOnce(ctx context.Context, members []*member, pools []ipam.Pool) (*attempt, error) {
	b := groupOf(members)
	followed := func(ctx context.Context) (context.Context, func()) { return s.follow(ctx, pools[0], members) }
	return usecase.InOneTrip(ctx, s.Core, b.op, b.groupLocks(pools), followed, func(ctx context.Context, tx storage.Tx) (*attempt, error) {
		a := newAttempt(tx, b, s.Region)
		a.atOnce = true
		err := a.serveEach(ctx, members, pools, len(s.Store.KnownRegions()) > 1)
		if s.partAlone(members, a.refused) && !allLackRoom(members, a.refused) {
			err = storage.ErrForgotten
		}
		return a, err
	})
}

// partAlone has the pools go alone that members are refused by, and reports whether there are any: others would be held up by what those have to look at.
func (s *groups) partAlone(members []*member, refused []error) (some bool) {
	for i, err := range refused {
		if err != nil && !(some && members[i].lane == members[i-1].lane) {
			s.alone.Add(members[i].lane, s.Ticks())
			some = true
		}
	}
	return some
}

// allLackRoom reports whether all are refused because there is no block of a length, and what is left is known. It is not of those whose earlier COMMIT may
// still take effect: that is over when the pool's lock is got.
func allLackRoom(members []*member, refused []error) bool {
	for i, m := range members {
		lack, is := errors.AsType[*regions.NoRoom](refused[i])
		if !is || lack.Stock == nil || lack.Wish.Exact.IsValid() || m.unsure {
			return false
		}
	}
	return true
}

// account returns the project that pays for a group's transaction: the members' project, or the pool's project if the members have several.
func account(pool ipam.Pool, members []*member) ipam.ID {
	payer := tenancy.PayerOf(members[0].ctx)
	for _, m := range members[1:] {
		if tenancy.PayerOf(m.ctx) != payer {
			return pool.ProjectID
		}
	}
	return payer
}

func groupOf(members []*member) *batch {
	orders := make([]*order, len(members))
	for i, m := range members {
		orders[i] = m.order
	}
	return newBatch(inGroup, orders)
}

// groupLocks are the pools, and the projects: nobody changes which quotas those have.
func (b *batch) groupLocks(pools []ipam.Pool) storage.Locks {
	locks := storage.Locks{Shared: b.projects(), InTurn: true}
	for _, p := range pools {
		locks.Alone = append(locks.Alone, storage.PoolContainer(p).Lock())
	}
	return locks
}

// serveEach serves the orders of a group one by one: releases first, so that what is given back can be given out; then the claims in the order in
// which they came. One that cannot be served is refused, and the others go on. With several regions a claim may be in another one.
func (a *attempt) serveEach(ctx context.Context, members []*member, pools []ipam.Pool, several bool) error {
	for _, pool := range pools {
		src, err := a.open(ctx, pool)
		if err != nil {
			return err
		}
		if src.missing {
			return storage.PoolNotFound(pool.Ref())
		}
	}
	if err := a.readUsers(ctx); err != nil {
		return err
	}
	a.refused = make([]error, len(members))
	for i, m := range members {
		switch src := a.opened[m.lane]; {
		case m.binds():
		case src.away:
			a.refused[i] = &storage.Conflict{}
		default:
			a.release(i, src)
		}
	}
	for i, m := range members {
		if m.binds() {
			var err error
			if a.refused[i] = a.users.Admit(m.key.ID, m.claim.Spec.Consumers); a.refused[i] != nil {
				continue
			}
			if a.refused[i], err = a.draw(ctx, i, a.opened[m.lane]); err != nil {
				return err
			}
		}
	}
	if a.atOnce && slices.ContainsFunc(a.refused, func(refused error) bool { return refused != nil }) && !allLackRoom(members, a.refused) {
		return storage.ErrForgotten // whatever their names are
	}
	if err := a.lookAgain(ctx, several); err != nil || !slices.Contains(a.refused, nil) {
		return err
	}
	ch, err := a.changes()
	if err != nil {
		return err
	}
	return a.tx.Write(ctx, ch)
}

// readUsers reads the consumers of the claims that are to be made.
func (a *attempt) readUsers(ctx context.Context) error {
	wanted := map[ipam.ID][]ipam.NewConsumer{}
	for _, o := range a.batch.orders {
		if o.binds() && len(o.claim.Spec.Consumers) > 0 {
			wanted[o.key.ID] = append(wanted[o.key.ID], o.claim.Spec.Consumers...)
		}
	}
	for _, project := range a.batch.projects() {
		if len(wanted[project]) == 0 {
			continue
		}
		if err := a.users.Read(ctx, a.tx, project, wanted[project]); err != nil {
			return err
		}
	}
	return nil
}

// lookAgain makes those who are refused, and for whose name and key nobody has looked yet, look themselves if one of them is in use: that is
// what they are to be told.
func (a *attempt) lookAgain(ctx context.Context, several bool) error {
	var unseen []int
	var claims, keys []storage.NameRef
	for i, o := range a.batch.orders {
		_, looks := storage.AsConflict(a.refused[i])
		if a.refused[i] == nil || looks || !o.remembered {
			continue
		}
		if several { // a claim of the name may be in another region: the look-up finds it
			a.refused[i] = &storage.Conflict{}
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
			a.refused[i] = &storage.Conflict{}
		}
	}
	return nil
}
