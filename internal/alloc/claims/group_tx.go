package claims

import (
	"context"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/carve"
	"github.com/carve-ipam/carve/internal/alloc/quota"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// groupPlan is what one transaction did for each member, in their order.
type groupPlan struct {
	outcomes []ipam.Claim
	errs     []error
	refused  []bool // no room for wishes[i]
	wishes   []space.Wish
	pool     ipam.Pool // as it was
}

// noWish is a wish that no pool can grant; it stands for members that wish for nothing.
var noWish = space.Wish{Bits: -1}

// groupTx is one attempt of the transaction claim_group: releases first, so that what is given back can be given out; then
// the claims in the order in which they came.
func (s *Claims) groupTx(ctx context.Context, tx storage.Tx, known ipam.Pool, members []*member) (*groupPlan, error) {
	c := storage.PoolContainer(known)
	release, wishes := groupWishes(known, members, tx.Attempt())
	facts, err := tx.GroupRead(ctx, c, carve.Reads(c, release, wishes), groupQuery(known, members))
	if ipam.IsCode(err, ipam.CodeNotFound) {
		return nil, storage.PoolNotFound(known.Ref())
	}
	if err != nil {
		return nil, err
	}
	at := tx.Now()
	for _, m := range members {
		m.stamp(at)
	}
	if !facts.Pool.Serves(facts.Pool.Place()) {
		return elsewhere(facts.Pool, wishes), nil
	}
	if err := regions.Fence(facts); err != nil {
		return nil, err
	}
	pool, free := facts.Pool, facts.Free
	if !pool.Spec.Allocation.Equal(known.Spec.Allocation) { // other wishes, which other rows decide: read those
		release, wishes = groupWishes(pool, members, tx.Attempt())
		if free, err = tx.FreeRead(ctx, c, carve.Reads(c, release, wishes)); err != nil {
			return nil, err
		}
	}
	k, err := carve.NewCarver(c, release, free)
	if err != nil {
		return nil, err
	}
	plan := &groupPlan{
		outcomes: make([]ipam.Claim, len(members)), errs: make([]error, len(members)),
		refused: make([]bool, len(members)), wishes: wishes, pool: pool,
	}
	in := groupScene{pool: pool, facts: facts, carver: k, ledger: quota.NewLedger(tx, facts.Quotas)}
	in.served = pool.Revision != known.Revision && pool.In(s.Region).Place() != pool.Place()
	ch, err := plan.fill(ctx, in, members)
	if err != nil {
		return nil, err
	}
	if err := plan.lookAgain(ctx, tx, members, len(s.Store.KnownRegions()) > 1); err != nil {
		return nil, err
	}
	if len(ch.ClaimInsert)+len(ch.ClaimDelete) == 0 {
		return plan, nil
	}
	ch.Free = []storage.FreeChange{k.Change()}
	ch.ScopedMarks = occupied(pool, ch.ClaimInsert)
	in.ledger.Into(&ch)
	return plan, tx.Write(ctx, ch)
}

// elsewhere is the plan for members who meant a pool in a region that it is not served in any more: they look again, and find it at home.
func elsewhere(pool ipam.Pool, wishes []space.Wish) *groupPlan {
	plan := &groupPlan{
		outcomes: make([]ipam.Claim, len(wishes)), errs: make([]error, len(wishes)), refused: make([]bool, len(wishes)), wishes: wishes, pool: pool,
	}
	for i := range plan.errs {
		plan.errs[i] = &storage.Conflict{}
	}
	return plan
}

// groupScene is what the members of a group are served from.
type groupScene struct {
	pool   ipam.Pool
	facts  storage.GroupFacts
	carver *carve.Carver
	ledger *quota.Ledger
	served bool // the pool has changed, and is to be drawn from in another region by now: nearer, most likely
}

// groupLocks: the pool, and that nobody changes which quotas the members' projects have.
func groupLocks(pool ipam.Pool, members []*member) storage.Locks {
	return storage.Locks{Alone: []ipam.ID{storage.PoolContainer(pool).Lock()}, Shared: groupQuery(pool, members).Projects}
}

// groupQuery asks for the quotas of the members' projects, and whether the pool is granted to those that it is not of.
func groupQuery(pool ipam.Pool, members []*member) storage.GroupQuery {
	q := storage.GroupQuery{Pool: pool, Shard: quota.ShardOf(pool.UID)}
	for _, m := range members {
		if !slices.Contains(q.Projects, m.key.ID) {
			q.Projects = append(q.Projects, m.key.ID)
		}
		if m.create && m.ask.Class == nil && m.key.ID != pool.ProjectID && !slices.Contains(q.Consumers, m.key.Name) {
			q.Consumers = append(q.Consumers, m.key.Name)
		}
		if m.seen.remembered && m.ask.Class != nil && !slices.Contains(q.Classes, m.key.Name) {
			q.Classes = append(q.Classes, m.key.Name)
		}
	}
	return q
}

// groupWishes is what the members give back and wish for; wishes[i] belongs to members[i].
func groupWishes(pool ipam.Pool, members []*member, attempt int) (release []netip.Prefix, wishes []space.Wish) {
	wishes = make([]space.Wish, len(members))
	for i, m := range members {
		wishes[i] = noWish
		switch {
		case m.create:
			if w, err := m.ask.Wanted(pool); err == nil {
				wishes[i] = w.Wish(pool, m.random, attempt)
			}
		case m.frees():
			release = append(release, m.claim.Block)
		}
	}
	space.ShareStart(pool.Block, wishes)
	return release, wishes
}

// fill serves the members one after another and collects what is to be written.
func (plan *groupPlan) fill(ctx context.Context, in groupScene, members []*member) (storage.Changes, error) {
	var ch storage.Changes
	for i, m := range members {
		if m.create {
			continue
		}
		plan.outcomes[i] = m.claim
		if err := m.releaseInto(&ch, in); err != nil {
			return ch, err
		}
	}
	for i, m := range members {
		if !m.create {
			continue
		}
		if err := plan.serve(ctx, in, i, m, &ch); err != nil {
			return ch, err
		}
	}
	return ch, nil
}

// serve binds one member's claim, or says in the plan why not. The error is one that ends the attempt.
func (plan *groupPlan) serve(ctx context.Context, in groupScene, i int, m *member, ch *storage.Changes) error {
	if !m.sees(in.facts) || in.served && m.seen.remembered {
		return plan.refuse(i, &storage.Conflict{})
	}
	if !m.ask.MayDraw(m.key, in.pool, in.facts.Granted[m.key.Name]) { // not any more
		return plan.refuse(i, storage.PoolNotFound(in.pool.Ref()))
	}
	w, err := m.ask.Wanted(in.pool)
	if err != nil { // the policy has changed since the member looked
		return plan.refuse(i, err)
	}
	usage, at := quota.ClaimUsage(in.pool, w.Bits), quota.ClaimPlace(in.pool, m.ask.ClassRef())
	err = in.ledger.Take(ctx, m.key, at, usage)
	if ipam.IsCode(err, ipam.CodeQuotaExceeded) {
		return plan.refuse(i, err)
	}
	if err != nil {
		return err
	}
	block, ok := in.carver.Take(plan.wishes[i])
	if !ok {
		in.ledger.Give(m.key.ID, at, usage)
		plan.refused[i] = true
		return nil
	}
	plan.outcomes[i] = m.ask.Bound(m.claim, block, in.pool)
	return bindInto(ch, plan.outcomes[i], in.pool, m.event, m.request)
}

// lookAgain makes those who are refused, and for whose name and key nobody has looked yet, look themselves if one of them is in use: that is
// what they are to be told.
func (plan *groupPlan) lookAgain(ctx context.Context, tx storage.Tx, members []*member, several bool) error {
	var claims, keys []storage.NameRef
	for i, m := range members {
		if !plan.unseen(i, m) {
			continue
		}
		if several { // a claim of the name may be in another region: the look-up finds it
			plan.refused[i], plan.errs[i] = false, &storage.Conflict{}
			continue
		}
		claims = append(claims, storage.NameRef{ProjectID: m.key.ID, Name: m.claim.Name})
		if m.request.Key != "" {
			keys = append(keys, storage.NameRef{ProjectID: m.key.ID, Name: m.request.Key})
		}
	}
	taken, used, err := tx.Taken(ctx, claims, keys)
	if err != nil {
		return err
	}
	for i, m := range members {
		if plan.unseen(i, m) && (taken[storage.NameRef{ProjectID: m.key.ID, Name: m.claim.Name}] || m.request.Key != "" && used[storage.NameRef{ProjectID: m.key.ID, Name: m.request.Key}]) {
			plan.refused[i], plan.errs[i] = false, &storage.Conflict{}
		}
	}
	return nil
}

func (plan *groupPlan) unseen(i int, m *member) bool {
	return m.create && m.seen.remembered && (plan.refused[i] || plan.errs[i] != nil)
}

// refuse gives a member an error of its own, which does not end the attempt.
func (plan *groupPlan) refuse(i int, err error) error {
	plan.errs[i] = err
	return nil
}

// bindInto writes a claim that is made, with its allocation, its event and, for a request that is about this claim alone, its answer.
func bindInto(ch *storage.Changes, c ipam.Claim, pool ipam.Pool, e ipam.Event, r usecase.Request) error {
	e, err := trail.ClaimEvent(e, nil, &c)
	if err != nil {
		return err
	}
	stored, err := usecase.Answers(c.ProjectID, r, c.CreatedAt, c)
	if err != nil {
		return err
	}
	ch.ClaimInsert = append(ch.ClaimInsert, c)
	ch.AllocationInsert = append(ch.AllocationInsert, allocationOf(c, pool))
	ch.Answers = append(ch.Answers, stored...)
	ch.Events = append(ch.Events, e)
	return nil
}
