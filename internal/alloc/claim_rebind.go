package alloc

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
)

// rebind makes a claim for an allocation that an earlier claim of the same project left behind under ReclaimRetain. Its
// addresses have been counted all the time; what is new is the claim. Like every new claim it needs the pool's grant.
func (s *Service) rebind(ctx context.Context, key ProjectKey, c ipam.Claim, event ipam.Event, r Request) (ipam.Claim, error) {
	id, err := ipam.ParseID(c.Spec.AllocationRef)
	if err != nil {
		return c, ipam.Invalid("/spec/allocationRef/name", "is not the name of an allocation.")
	}
	known, found, err := ignoreNotFound(s.store.AllocationGetByID(ctx, id))
	if err != nil {
		return c, err
	}
	locks := Locks{Shared: []ipam.ID{key.ID}}
	if found {
		locks.Alone = []ipam.ID{known.ContainerID}
	}
	return settled(ctx, s, "claim_rebind", locks, r.DryRun, func(ctx context.Context, tx Tx) (ipam.Claim, error) {
		a, err := retainedFor(ctx, tx, key, id)
		if err != nil {
			return c, err
		}
		bound := c
		bound.Block, bound.AllocationID = a.Block, a.ID
		bound.Pool, bound.PoolID, bound.PoolProjectID = a.Pool, a.ContainerID, a.ProjectID
		quotas, err := tx.QuotaParts(ctx, []ipam.ID{key.ID}, shardOf(a.ContainerID))
		if err != nil {
			return c, err
		}
		l := newLedger(tx, quotas)
		if err := l.take(ctx, key, a.Pool, ipam.FamilyOf(a.Block.Addr()), ipam.Usage{Claims: 1}); err != nil {
			return c, err
		}
		e, err := claimEvent(event, nil, &bound)
		if err != nil {
			return c, err
		}
		stored, err := answers(key.ID, r, c.CreatedAt, bound)
		if err != nil {
			return c, err
		}
		next := a
		next.Phase, next.Holder, next.ReclaimPolicy, next.OwnerRef = ipam.PhaseBound, c.Ref(), c.Spec.ReclaimPolicy, c.Spec.OwnerRef
		next.Since, next.Revision, next.UpdatedAt = c.CreatedAt, c.Revision, c.CreatedAt
		ch := Changes{
			ClaimInsert:      []ipam.Claim{bound},
			AllocationUpdate: []AllocationUpdate{{Was: ipam.PhaseRetained, Now: next}},
			Answers:          stored,
			Events:           []ipam.Event{e},
			History:          []ipam.Hold{endedHold(a, c.CreatedAt)},
		}
		l.into(&ch)
		return bound, tx.Write(ctx, ch)
	}, func(ctx context.Context) (ipam.Claim, bool, error) {
		got, found, err := ignoreNotFound(s.store.ClaimGet(ctx, key, c.Name))
		return got, found && got.UID == c.UID, err
	})
}

// retainedFor is the allocation if it is retained for the project, which may still claim from its pool. To everybody else, the pool's
// owner included, it is not there to be bound.
func retainedFor(ctx context.Context, tx Tx, key ProjectKey, id ipam.ID) (ipam.Allocation, error) {
	const field = "/spec/allocationRef/name"
	a, found, err := ignoreNotFound(tx.AllocationGetByID(ctx, id))
	switch {
	case err != nil:
		return a, err
	case !found || a.Purpose != ipam.PurposeClaim || a.HolderProjectID != key.ID:
		return a, at(allocationNotFound(key, id.String()), field)
	case a.Phase != ipam.PhaseRetained:
		return a, ipam.Errorf(ipam.CodeInUse, "Allocation %s is bound to claim %s.", id, a.Holder).
			At(field, "must name a retained allocation.")
	case a.ProjectID == key.ID:
		return a, nil
	}
	pool, err := tx.PoolGetByID(ctx, a.ContainerID)
	if err != nil {
		return a, err
	}
	granted, err := tx.Granted(ctx, grantsOfPool(pool), key.Name)
	if err != nil {
		return a, err
	}
	if !mayClaim(key, pool, granted) {
		return a, at(ipam.Errorf(ipam.CodeNotFound, "Pool %s was not found.", a.Pool), field)
	}
	return a, nil
}
