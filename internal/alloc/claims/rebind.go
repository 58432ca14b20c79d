package claims

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/allocations"
	"github.com/carve-ipam/carve/internal/alloc/attach"
	"github.com/carve-ipam/carve/internal/alloc/quota"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/resolve"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// rebind creates a claim for a retained allocation. An earlier claim in the same project left this allocation under ReclaimRetain. The quotas already
// count its addresses, so rebind charges only the claim. Like every new claim, it needs a grant to the pool.
func rebind(ctx context.Context, s *usecase.Core, o *order) (ipam.Claim, error) {
	key, c, r := o.key, o.claim, o.request
	id, err := ipam.ParseID(c.Spec.AllocationRef)
	if err != nil {
		return c, ipam.Invalid("/spec/allocationRef/name", "is not the name of an allocation.")
	}
	known, found, err := storage.IgnoreNotFound(s.Store.AllocationGetByID(ctx, key, id))
	if err != nil {
		return c, err
	}
	locks := storage.Locks{Shared: []ipam.ID{key.ID}}
	if found {
		locks.Exclusive = allocations.AllocationLocks(known)
	}
	return usecase.RunWithReadBack(ctx, s, "claim_rebind", locks, r.DryRun, func(ctx context.Context, tx storage.Tx) (ipam.Claim, error) {
		a, err := retainedFor(ctx, tx, key, id, c.Spec.AllocationOf)
		if err != nil {
			return c, err
		}
		if err := regions.FencedHold(ctx, tx, a); err != nil {
			return c, err
		}
		bound, err := boundTo(ctx, tx, key, c, a)
		if err != nil {
			return c, err
		}
		var users attach.Users
		if err := users.ReadAdmitted(ctx, tx, key.ID, c.Spec.Consumers); err != nil {
			return c, err
		}
		users.Attach(&bound, c.Spec.Consumers, attach.Details{Project: key, Region: s.Region, Event: o.event, At: bound.CreatedAt})
		quotas, err := tx.QuotaParts(ctx, []ipam.ID{key.ID}, quota.ShardOf(a.ContainerID))
		if err != nil {
			return c, err
		}
		l := quota.NewLedger(tx, quotas)
		if err := l.Take(ctx, key, quota.AllocationSubject(a), ipam.Usage{Claims: 1}); err != nil {
			return c, err
		}
		bound.Spec.Consumers = nil
		e, err := trail.AttachEvent(o.event, nil, &bound, c.Spec.Consumers)
		if err != nil {
			return c, err
		}
		ch := storage.Changes{
			ClaimRebind: &storage.ClaimUpdate{Was: a.Revision, Now: bound},
			Events:      []ipam.Event{e},
			History:     []ipam.Hold{trail.EndedHold(a, bound.CreatedAt)},
		}
		addStoredResponse(&ch, bound.CreatedAt, []*order{o}, []ipam.Claim{bound})
		l.AddTo(&ch)
		if err := users.AddTo(&ch); err != nil {
			return bound, err
		}
		return bound, tx.Write(ctx, ch)
	}, func(ctx context.Context) (ipam.Claim, bool, error) {
		got, found, err := storage.IgnoreNotFound(s.Store.ClaimGet(ctx, key, c.Name))
		return got, found && got.UID == c.UID, err
	})
}

// boundTo returns a claim that is bound to a retained allocation.
func boundTo(ctx context.Context, tx storage.Tx, key storage.ProjectKey, c ipam.Claim, a ipam.Allocation) (_ ipam.Claim, err error) {
	c.CreatedAt = tx.Now()
	c.UpdatedAt = c.CreatedAt
	c.Block, c.AllocationID, c.Region = a.Block, a.ID, a.Region
	c.Pool, c.PoolID, c.PoolProjectID, c.Class = a.Pool, a.ContainerID, a.ProjectID, a.Class
	c.Allocated.CreatedAt, c.Allocated.CreatedBy = a.CreatedAt, a.CreatedBy
	c.ReclaimPolicy, c.ReuseAfter, err = policyOf(ctx, tx, key, c.Spec, a)
	return c, err
}

// retainedFor returns a retained allocation. The allocation must be retained for the project, and the project must still be allowed to claim from its
// pool. For any other project, including the pool's owner, retainedFor returns not found. If owner names a project, retainedFor also returns not
// found for a pool outside that project.
func retainedFor(ctx context.Context, tx storage.Tx, key storage.ProjectKey, id ipam.ID, owner string) (ipam.Allocation, error) {
	const field = "/spec/allocationRef/name"
	a, found, err := storage.IgnoreNotFound(tx.AllocationGetByID(ctx, key, id))
	switch {
	case err != nil:
		return a, err
	case !found || a.Purpose != ipam.PurposeClaim || a.HolderProjectID != key.ID || (a.Phase == ipam.PhaseCoolingDown && a.ProjectID != key.ID),
		owner != "" && owner != a.Pool.Project:
		return a, storage.NotFoundAt(allocations.AllocationNotFound(key, id.String()), field)
	case a.Phase == ipam.PhaseCoolingDown:
		return a, ipam.Errorf(ipam.CodeInUse, "Allocation %s is cooling down until %s. No claim can get it before then.", id, a.CoolUntil.UTC().Format(time.RFC3339)).
			At(field, "must name a retained allocation.")
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
	class, err := classOf(ctx, tx, key, a.Class)
	if err != nil {
		return a, err
	}
	granted := false
	if class == nil {
		if granted, err = tx.Granted(ctx, storage.GrantsOfPool(pool), key.Name); err != nil {
			return a, err
		}
	}
	if may := (resolve.Request{Class: class}).MayDraw(key, pool, granted); !may && (pool.Scope == nil || pool.Scope.ProjectID != key.ID || class == nil) {
		return a, storage.NotFoundAt(ipam.Errorf(ipam.CodeNotFound, "Pool %s was not found.", a.Pool), field)
	}
	return a, nil
}

// classOf returns the current class that served an allocation. If no class served it, or the project may not use the class any more, classOf returns
// nil.
func classOf(ctx context.Context, read storage.Reader, key storage.ProjectKey, ref ipam.ClassRef) (*ipam.Class, error) {
	if ref.IsZero() {
		return nil, nil //nolint:nilnil // documented above
	}
	usable, err := read.ClassList(ctx, key)
	if err != nil {
		return nil, err
	}
	for i := range usable {
		if usable[i].UID == ref.ID {
			return &usable[i], nil
		}
	}
	return nil, nil //nolint:nilnil // documented above
}

// policyOf returns the reclaim policy and the cool-down for a block that is bound again. Both follow from the claim, the allocation's policy, the
// current class and the current pool.
func policyOf(ctx context.Context, read storage.Reader, key storage.ProjectKey, spec ipam.ClaimSpec, a ipam.Allocation) (ipam.ReclaimPolicy, time.Duration, error) {
	pool, err := read.PoolGetByID(ctx, a.ContainerID)
	if err != nil {
		return "", 0, err
	}
	class, err := classOf(ctx, read, key, a.Class)
	policy := resolve.Request{Spec: spec, Class: class, Kept: a.ReclaimPolicy}
	return policy.ReclaimPolicy(), policy.ReuseAfter(pool), err
}
