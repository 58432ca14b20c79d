package alloc

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// PatchClaim changes labels, annotations and reclaimPolicy by mutate, which must be pure. No difference: nothing is written.
func (s *Service) PatchClaim(ctx context.Context, project, name string, r Request, mutate func(ipam.Claim) (ipam.Claim, error)) (ipam.Claim, error) {
	_, key, err := s.enter(ctx, tenancy.ClaimsWrite, project)
	if err != nil {
		return ipam.Claim{}, err
	}
	revision, now := ipam.NewID(), s.now()
	event := attempt(ctx, now, key.ID, kindClaim, name)
	defer s.memory.forgetClaim(key, name)
	for range maxRounds {
		c, err := settled(ctx, s, "claim_patch", Locks{}, r.DryRun, func(ctx context.Context, tx Tx) (ipam.Claim, error) {
			was, err := tx.ClaimGet(ctx, key, name)
			if err != nil {
				return was, err
			}
			if err := r.IfMatch.Check(was.Revision); err != nil {
				return was, err
			}
			next, err := mutate(was)
			if err != nil {
				return was, err
			}
			policyChanged := next.Spec.ReclaimPolicy != was.Spec.ReclaimPolicy
			if !policyChanged && sameMeta(was.Metadata, next.Metadata) {
				return was, nil
			}
			if err := checkChanged(next.Metadata, next.Spec.Check()); err != nil {
				return was, err
			}
			if policyChanged {
				class, err := classOf(ctx, tx, key, was.Class)
				if err != nil {
					return was, err
				}
				next.ReclaimPolicy = ask{spec: next.Spec, class: class}.reclaimPolicy()
			}
			touch(&next.Metadata, was.Metadata, policyChanged, revision, now)
			e, err := claimEvent(event, &was, &next)
			if err != nil {
				return was, err
			}
			ch := Changes{ClaimUpdate: &ClaimUpdate{Was: was.Revision, Now: next}, Events: []ipam.Event{e}}
			if policyChanged {
				pool, err := tx.PoolGetByID(ctx, next.PoolID)
				if err != nil {
					return was, err
				}
				a := allocationOf(next, placed(pool, next.Region))
				a.UpdatedAt = now
				ch.AllocationUpdate = []AllocationUpdate{{Was: ipam.PhaseBound, Now: a}}
			}
			return next, tx.Write(ctx, ch)
		}, func(ctx context.Context) (ipam.Claim, bool, error) {
			got, found, err := ignoreNotFound(s.store.ClaimGet(ctx, key, name))
			return got, found && got.Revision == revision, err
		})
		if _, conflict := asConflict(err); !conflict {
			return c, err
		}
	}
	return ipam.Claim{}, contention(nil)
}
