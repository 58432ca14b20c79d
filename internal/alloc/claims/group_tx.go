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

// transact runs a round's transaction. A member is an order in the group: it binds or releases one claim. The transaction's trace ends before a
// member gets its outcome.
func (s *groups) transact(ctx context.Context, members []*member, pool ipam.Pool) (*attempt, error) {
	if !members[0].request.DryRun && !slices.ContainsFunc(members, (*member).consumes) { // a dry run has no group
		remembered := s.Store.HasCached(storage.PoolContainer(pool))
		a, err := s.transactFromCache(ctx, members, []ipam.Pool{pool})
		if !errors.Is(err, storage.ErrCacheMiss) {
			return a, err
		}
		if remembered {
			s.excluded.Add(members[0].lock, s.Ticks())
		}
	}
	ctx, ended := s.traceGroup(tenancy.WithPayer(ctx, account(pool, members)), pool, members)
	defer ended()
	b := groupOf(members)
	return usecase.InTx(ctx, s.Core, b.op, b.groupLocks([]ipam.Pool{pool}), b.dryRun(), func(ctx context.Context, tx storage.Tx) (*attempt, error) {
		a := newAttempt(tx, b, s.Region)
		err := a.serveEach(ctx, members, []ipam.Pool{pool}, len(s.Store.KnownRegions()) > 1)
		return a, err
	})
}

// transactFromCache serves members from cached pools in one round trip, or returns storage.ErrCacheMiss. It serves all members or refuses all. A
// cached fact decides only one kind of refusal: lack of room. A read must first prove that the cached state is current.
func (s *groups) transactFromCache(ctx context.Context, members []*member, pools []ipam.Pool) (*attempt, error) {
	b := groupOf(members)
	followed := func(ctx context.Context) (context.Context, func()) { return s.traceGroup(ctx, pools[0], members) }
	return usecase.InOneRoundTrip(ctx, s.Core, b.op, b.groupLocks(pools), followed, func(ctx context.Context, tx storage.Tx) (*attempt, error) {
		a := newAttempt(tx, b, s.Region)
		a.fromCache = true
		err := a.serveEach(ctx, members, pools, len(s.Store.KnownRegions()) > 1)
		if s.excludePools(members, a.refused) && !allLackRoom(members, a.refused) {
			err = storage.ErrCacheMiss
		}
		return a, err
	})
}

// excludePools excludes the pools that refuse members from shared transactions. Otherwise the retries of these members would delay other pools.
// excludePools reports whether any pool refuses a member.
func (s *groups) excludePools(members []*member, refused []error) (some bool) {
	for i, err := range refused {
		if err != nil && !(some && members[i].lock == members[i-1].lock) {
			s.excluded.Add(members[i].lock, s.Ticks())
			some = true
		}
	}
	return some
}

// allLackRoom reports whether every member is refused because the pool has no block with the requested length, and the free space is known. If a
// member's earlier COMMIT may still take effect, it returns false. Only the pool's lock can exclude such a COMMIT.
func allLackRoom(members []*member, refused []error) bool {
	for i, m := range members {
		lack, is := errors.AsType[*regions.NoRoom](refused[i])
		if !is || lack.Stock == nil || lack.Request.Exact.IsValid() || m.commitUnknown {
			return false
		}
	}
	return true
}

// account returns the project that pays for a group's transaction. If all members have the same project, that project pays. Otherwise the pool's
// project pays.
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
	return newBatch(groupTx, orders)
}

// groupLocks returns the exclusive locks on the pools and the shared locks on the projects. The locks on the projects keep their quotas from
// changing.
func (b *batch) groupLocks(pools []ipam.Pool) storage.Locks {
	locks := storage.Locks{Shared: b.projects(), TryShared: true}
	for _, p := range pools {
		locks.Exclusive = append(locks.Exclusive, storage.PoolContainer(p).Lock())
	}
	return locks
}

// serveEach serves a group's orders one by one. The releases come first, so that their blocks can serve the claims. The claims follow in arrival
// order. If an order cannot be served, serveEach refuses it and goes on. multiRegion means that the installation has several regions, so another
// region may have a claim with the same name.
func (a *attempt) serveEach(ctx context.Context, members []*member, pools []ipam.Pool, multiRegion bool) error {
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
		switch src := a.opened[m.lock]; {
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
			if a.refused[i], err = a.draw(ctx, i, a.opened[m.lock]); err != nil {
				return err
			}
		}
	}
	if a.fromCache && slices.ContainsFunc(a.refused, func(refused error) bool { return refused != nil }) && !allLackRoom(members, a.refused) {
		return storage.ErrCacheMiss // no matter whether their names are in use
	}
	if err := a.markTaken(ctx, multiRegion); err != nil || !slices.Contains(a.refused, nil) {
		return err
	}
	ch, err := a.changes()
	if err != nil {
		return err
	}
	return a.tx.Write(ctx, ch)
}

// readUsers reads the new claims' consumers.
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

// markTaken checks the names and keys in refused orders that began with cached facts. If a name or key is in use, the order gets a conflict instead
// of its refusal. The order then repeats its look-up, which returns the right refusal.
func (a *attempt) markTaken(ctx context.Context, several bool) error {
	var unseen []int
	var claims, keys []storage.NameRef
	for i, o := range a.batch.orders {
		_, looks := storage.AsConflict(a.refused[i])
		if a.refused[i] == nil || looks || !o.cached {
			continue
		}
		if several { // another region may have a claim with this name: the look-up finds it
			a.refused[i] = &storage.Conflict{}
			continue
		}
		unseen, claims = append(unseen, i), append(claims, o.name())
		if o.request.Key != "" {
			keys = append(keys, o.keyRef())
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
		if o := a.batch.orders[i]; taken[o.name()] || o.request.Key != "" && used[o.keyRef()] {
			a.refused[i] = &storage.Conflict{}
		}
	}
	return nil
}
