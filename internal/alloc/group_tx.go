package alloc

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/ipam"
)

// groupPlan is what one transaction did for each member, in their order.
type groupPlan struct {
	outcomes []ipam.Claim
	errs     []error
	refused  []bool // no room for wishes[i]
	wishes   []space.Wish
}

// noWish is a wish that no pool can grant; it stands for members that wish for nothing.
var noWish = space.Wish{Bits: -1}

// groupTx is one attempt of the transaction claim_group: releases first, so that what is given back can be given out; then
// the claims in the order in which they came.
func (s *Service) groupTx(ctx context.Context, tx Tx, known ipam.Pool, members []*member) (*groupPlan, error) {
	c := PoolContainer(known)
	release, wishes := groupWishes(known, members, tx.Attempt())
	pool, free, err := tx.PoolFreeRead(ctx, c, reads(c, release, wishes))
	if err != nil {
		return nil, err
	}
	if !pool.Spec.Allocation.Equal(known.Spec.Allocation) { // other wishes, which other rows decide: read those
		release, wishes = groupWishes(pool, members, tx.Attempt())
		if free, err = tx.FreeRead(ctx, c, reads(c, release, wishes)); err != nil {
			return nil, err
		}
	}
	k, err := newCarver(c, release, free)
	if err != nil {
		return nil, err
	}
	plan := &groupPlan{
		outcomes: make([]ipam.Claim, len(members)), errs: make([]error, len(members)),
		refused: make([]bool, len(members)), wishes: wishes,
	}
	ch, err := plan.fill(pool, members, k)
	if err != nil {
		return nil, err
	}
	if len(ch.ClaimInsert)+len(ch.ClaimDelete) == 0 {
		return plan, nil
	}
	ch.Free = []FreeChange{k.change()}
	return plan, tx.Write(ctx, ch)
}

// groupWishes is what the members give back and wish for; wishes[i] belongs to members[i].
func groupWishes(pool ipam.Pool, members []*member, attempt int) (release []netip.Prefix, wishes []space.Wish) {
	wishes = make([]space.Wish, len(members))
	for i, m := range members {
		wishes[i] = noWish
		switch {
		case m.create:
			if w, err := wanted(m.claim.Spec, pool); err == nil {
				wishes[i] = claimWish(w, pool, m.random, attempt)
			}
		case m.claim.Spec.ReclaimPolicy == ipam.ReclaimDelete:
			release = append(release, m.claim.Block)
		}
	}
	space.ShareStart(pool.Block, wishes)
	return release, wishes
}

// fill serves the members one after another and collects what is to be written.
func (plan *groupPlan) fill(pool ipam.Pool, members []*member, k *carver) (Changes, error) {
	var ch Changes
	for i, m := range members {
		if !m.create {
			plan.outcomes[i] = m.claim
			m.releaseInto(&ch, pool)
			continue
		}
		if _, err := wanted(m.claim.Spec, pool); err != nil { // the policy has changed since the member looked
			plan.errs[i] = err
			continue
		}
		block, ok := k.take(plan.wishes[i])
		if !ok {
			plan.refused[i] = true
			continue
		}
		bound := m.claim
		bound.Block, bound.Pool, bound.PoolID, bound.PoolProjectID = block, pool.Ref(), pool.UID, pool.ProjectID
		stored, err := answers(m.key.ID, m.request, m.claim.CreatedAt, bound)
		if err != nil {
			return ch, err
		}
		ch.ClaimInsert = append(ch.ClaimInsert, bound)
		ch.AllocationInsert = append(ch.AllocationInsert, allocationOf(bound, pool))
		ch.Answers = append(ch.Answers, stored...)
		plan.outcomes[i] = bound
	}
	return ch, nil
}

// releaseInto deletes the claim and, by its policy, deletes or retains its allocation.
func (m *member) releaseInto(ch *Changes, pool ipam.Pool) {
	ch.ClaimDelete = append(ch.ClaimDelete, m.claim)
	a := allocationOf(m.claim, pool)
	if m.claim.Spec.ReclaimPolicy == ipam.ReclaimRetain {
		a.Phase, a.Revision, a.UpdatedAt = ipam.PhaseRetained, m.revision, m.now
		ch.AllocationUpdate = append(ch.AllocationUpdate, AllocationUpdate{Was: ipam.PhaseBound, Now: a})
		return
	}
	ch.AllocationDelete = append(ch.AllocationDelete, a)
}
