package claims

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/resolve"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

type patcher struct {
	*usecase.Core

	cache Cache
}

// PatchClaim changes a claim's labels, annotations and reclaimPolicy with mutate. mutate must be pure, because PatchClaim may call it again after a
// conflict. If mutate changes nothing, PatchClaim writes nothing.
func (s *patcher) PatchClaim(ctx context.Context, project, name string, r usecase.Request, mutate func(ipam.Claim) (ipam.Claim, error)) (ipam.Claim, error) {
	_, key, err := s.Enter(ctx, tenancy.ClaimsWrite, project)
	if err != nil {
		return ipam.Claim{}, err
	}
	revision, now := ipam.NewID(), s.Now()
	event := trail.Attempt(ctx, now, key.ID, trail.KindClaim, name)
	defer s.cache.removeClaim(key, name)
	return usecase.RetryConflicts(func(int) (ipam.Claim, error) {
		return usecase.RunWithReadBack(ctx, s.Core, "claim_patch", storage.Locks{}, r.DryRun, func(ctx context.Context, tx storage.Tx) (ipam.Claim, error) {
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
			if !policyChanged && usecase.SameMeta(was.Metadata, next.Metadata) {
				return was, nil
			}
			if err := usecase.CheckChanged(next.Metadata, next.Spec.Check()); err != nil {
				return was, err
			}
			if policyChanged {
				class, err := classOf(ctx, tx, key, was.Class)
				if err != nil {
					return was, err
				}
				next.ReclaimPolicy = resolve.Request{Spec: next.Spec, Class: class}.ReclaimPolicy()
				next.Allocated.Revision, next.Allocated.UpdatedAt = ipam.ID{}, now
			} else { // an allocation does not contain the changed fields, so its revision stays
				next.Allocated.Revision = was.Allocation().Revision
			}
			usecase.Touch(&next.Metadata, was.Metadata, policyChanged, revision, now)
			e, err := trail.ClaimEvent(event, &was, &next)
			if err != nil {
				return was, err
			}
			ch := storage.Changes{ClaimUpdate: &storage.ClaimUpdate{Was: was.Revision, Now: next}, Events: []ipam.Event{e}}
			return next, tx.Write(ctx, ch)
		}, func(ctx context.Context) (ipam.Claim, bool, error) {
			got, found, err := storage.IgnoreNotFound(s.Store.ClaimGet(ctx, key, name))
			return got, found && got.Revision == revision, err
		})
	})
}
