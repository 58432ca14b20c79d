package alloc

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
)

// rebind makes a claim for an allocation that an earlier claim of the same project left behind under ReclaimRetain.
func (s *Service) rebind(ctx context.Context, key ProjectKey, c ipam.Claim, r Request) (ipam.Claim, error) {
	id, err := ipam.ParseID(c.Spec.AllocationRef)
	if err != nil {
		return c, ipam.Invalid("/spec/allocationRef/name", "is not the name of an allocation.")
	}
	return settled(ctx, s, "claim_rebind", r.DryRun, func(ctx context.Context, tx Tx) (ipam.Claim, error) {
		a, err := tx.AllocationGet(ctx, key, id)
		if err != nil {
			return c, at(err, "/spec/allocationRef/name")
		}
		switch {
		case a.Purpose != ipam.PurposeClaim || a.HolderProjectID != key.ID:
			return c, at(ipam.Errorf(ipam.CodeNotFound, "Allocation %q was not found.", id), "/spec/allocationRef/name")
		case a.Phase != ipam.PhaseRetained:
			return c, ipam.Errorf(ipam.CodeInUse, "Allocation %s is bound to claim %s.", id, a.Holder).
				At("/spec/allocationRef/name", "must name a retained allocation.")
		}
		bound := c
		bound.Block, bound.AllocationID = a.Block, a.ID
		bound.Pool, bound.PoolID, bound.PoolProjectID = a.Pool, a.ContainerID, a.ProjectID
		a.Phase, a.Holder, a.ReclaimPolicy, a.OwnerRef = ipam.PhaseBound, c.Ref(), c.Spec.ReclaimPolicy, c.Spec.OwnerRef
		a.Revision, a.UpdatedAt = c.Revision, c.CreatedAt
		stored, err := answers(key.ID, r, c.CreatedAt, bound)
		if err != nil {
			return c, err
		}
		return bound, tx.Write(ctx, Changes{
			ClaimInsert:      []ipam.Claim{bound},
			AllocationUpdate: []AllocationUpdate{{Was: ipam.PhaseRetained, Now: a}},
			Answers:          stored,
		})
	}, func(ctx context.Context) (ipam.Claim, bool, error) {
		got, found, err := ignoreNotFound(s.store.ClaimGet(ctx, key, c.Name))
		return got, found && got.UID == c.UID, err
	})
}
