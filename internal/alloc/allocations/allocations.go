package allocations

import (
	"context"
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/carve"
	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/pools"
	"github.com/carve-ipam/carve/internal/alloc/quota"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/resolve"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// GetAllocation returns one allocation. The allocation is in one of the project's pools, or the project holds it in another project's pool. Its name
// is its id.
func (s *Allocations) GetAllocation(ctx context.Context, project, name string, r usecase.Reading) (ipam.Allocation, error) {
	_, key, err := s.Enter(ctx, tenancy.AllocationsRead, project)
	if err != nil {
		return ipam.Allocation{}, err
	}
	a, err := allocationOfBoth(ctx, s.View(r), key, name)
	return seenBy(key, a), err
}

// allocationOfBoth finds an allocation for its holder or for the project that owns its pool. During a cool-down, the allocation has no holder any
// more, so only the pool's owner finds it.
func allocationOfBoth(ctx context.Context, read storage.Reader, key storage.ProjectKey, name string) (ipam.Allocation, error) {
	id, err := ipam.ParseID(name)
	if err != nil {
		return ipam.Allocation{}, AllocationNotFound(key, name)
	}
	a, found, err := storage.IgnoreNotFound(read.AllocationGetByID(ctx, key, id))
	if err != nil {
		return ipam.Allocation{}, err
	}
	holds := a.HolderProjectID == key.ID && a.Phase != ipam.PhaseCoolingDown
	if !found || a.Purpose == ipam.PurposeRootPool || (a.ProjectID != key.ID && !holds) {
		return ipam.Allocation{}, AllocationNotFound(key, name)
	}
	return a, nil
}

// seenBy removes the fields that a project may not see. If another project has claimed the block, the pool's owner sees the block and that project.
// The owner does not see the claim's name, owner and creator.
func seenBy(project storage.ProjectKey, a ipam.Allocation) ipam.Allocation {
	if a.Purpose == ipam.PurposeClaim && a.HolderProjectID != project.ID {
		a.Holder.Name, a.OwnerRef, a.CreatedBy = "", nil, ""
	}
	return a
}

// AllocationNotFound returns the error for an allocation that the project does not have.
func AllocationNotFound(key storage.ProjectKey, name string) error {
	return ipam.Errorf(ipam.CodeNotFound, "Allocation %q was not found in project %q.", name, key.Name)
}

// DeleteAllocation releases a retained block, or ends a released block's cool-down. Both the pool's owner and the holder may release a retained
// block. Only the owner may end a cool-down. DeleteAllocation refuses a bound allocation, because a bound allocation ends with its claim or pool.
func (s *Allocations) DeleteAllocation(ctx context.Context, project, name string, r usecase.Request) error {
	_, key, err := s.Enter(ctx, tenancy.AllocationsWrite, project)
	if err != nil {
		return err
	}
	first, err := allocationOfBoth(ctx, s.Store, key, name)
	if err != nil {
		return err
	}
	_, err = usecase.RetryUnlocked(ctx, s.Core, func() (none struct{}, err error) { return none, s.deleteLocked(ctx, key, first, name, r) })
	return err
}

// deleteLocked deletes an allocation under the container's lock in this process.
func (s *Allocations) deleteLocked(ctx context.Context, key storage.ProjectKey, first ipam.Allocation, name string, r usecase.Request) error {
	in := AllocationLocks(first)
	release, err := s.Locks.Acquire(ctx, in...)
	if err != nil {
		return err
	}
	defer release()
	revision, now := ipam.NewID(), s.Now()
	// The event goes to the audit trail of the caller's project. The other project must not learn the caller's name.
	event := trail.Attempt(ctx, now, key.ID, trail.KindAllocation, name)
	locks := storage.Locks{Exclusive: in, Shared: []ipam.ID{first.HolderProjectID}, TryShared: true}
	_, err = usecase.RunWithReadBack(ctx, s.Core, "allocation_delete", locks, r.DryRun, func(ctx context.Context, tx storage.Tx) (struct{}, error) {
		var none struct{}
		a, err := allocationOfBoth(ctx, tx, key, name)
		if err != nil {
			return none, err
		}
		if err := r.IfMatch.Check(a.Revision); err != nil {
			return none, err
		}
		event := event
		event.At = tx.Now()
		ch, err := planDelete(ctx, tx, key, a, event, revision)
		if err != nil {
			return none, err
		}
		if a.Phase == ipam.PhaseRetained && a.HolderProjectID != key.ID {
			ch.Events = append(ch.Events, ownerReleaseEvent(ch.Events[0], a))
		}
		return none, tx.Write(ctx, ch)
	}, func(ctx context.Context) (struct{}, bool, error) {
		got, found, err := storage.IgnoreNotFound(s.Store.AllocationGetByID(ctx, key, first.ID))
		return struct{}{}, !found || (got.Phase == ipam.PhaseCoolingDown && got.Revision == revision), err
	})
	return err
}

// AllocationLocks returns the lock ids of an allocation's container. A container has one lock id in its home region and another in other regions. The
// allocation does not show its home region, so AllocationLocks returns both ids.
func AllocationLocks(a ipam.Allocation) []ipam.ID {
	return []ipam.ID{a.ContainerID, storage.AwayLock(a.ContainerID, a.Region)}
}

// PoolOwner is the subject in the holder's audit trail when the pool's owner releases the holder's retained block.
const PoolOwner = "system:pool-owner"

// ownerReleaseEvent returns the event for the holder's audit trail when the pool's owner releases the holder's retained block.
func ownerReleaseEvent(e ipam.Event, a ipam.Allocation) ipam.Event {
	return ipam.Event{
		ID: e.ID, ProjectID: a.HolderProjectID, At: e.At, Subject: PoolOwner, Operation: e.Operation,
		Kind: e.Kind, Name: e.Name, Outcome: e.Outcome, Before: e.Before, After: e.After,
	}
}

// planDelete plans the changes that delete an allocation. If the holder releases a retained block, the block must cool down like other released
// blocks. Otherwise a holder could avoid the cool-down by retaining the block first. If the pool's owner releases the block, it is free at once,
// because the owner may end a cool-down anyway.
func planDelete(ctx context.Context, tx storage.Tx, key storage.ProjectKey, a ipam.Allocation, event ipam.Event, revision ipam.ID) (storage.Changes, error) {
	switch {
	case a.Phase == ipam.PhaseCoolingDown:
		return pools.EndCooling(ctx, tx, a, event)
	case a.Phase != ipam.PhaseRetained:
		return storage.Changes{}, stillBound(key, a)
	case a.ProjectID == key.ID:
		return releaseRetained(ctx, tx, a, event)
	}
	after, err := reuseAfterOf(ctx, tx, a)
	if err != nil {
		return storage.Changes{}, err
	}
	if after == 0 {
		return releaseRetained(ctx, tx, a, event)
	}
	return coolRetained(ctx, tx, a, event, after, revision)
}

// releaseRetained plans a retained block's release. The release also reduces the usage in the holding project's quotas.
func releaseRetained(ctx context.Context, tx storage.Tx, a ipam.Allocation, event ipam.Event) (storage.Changes, error) {
	pool, err := tx.PoolGetByID(ctx, a.ContainerID)
	if err != nil {
		return storage.Changes{}, err
	}
	pool = storage.Placed(pool, a.Region)
	c, freed := storage.PoolContainer(pool), []netip.Prefix{a.Block}
	facts, err := tx.GroupRead(ctx, c, carve.Reads(c, freed, nil), storage.GroupQuery{Pool: pool, Projects: []ipam.ID{a.HolderProjectID}, Shard: quota.ShardOf(a.ContainerID)})
	if err == nil {
		err = regions.Fence(facts)
	}
	if err != nil {
		return storage.Changes{}, err
	}
	k, err := carve.NewCarver(c, freed, facts.Free)
	if err != nil {
		return storage.Changes{}, err
	}
	e, err := trail.Effected(event, trail.RecordedAllocation(a), nil)
	if err != nil {
		return storage.Changes{}, err
	}
	l := quota.NewLedger(tx, facts.Quotas)
	l.Give(a.HolderProjectID, quota.AllocationSubject(a), ipam.Usage{Addresses: freespace.Size(a.Block)})
	ch := storage.Changes{
		Free: []storage.FreeChange{k.Change()}, AllocationDelete: []ipam.Allocation{a},
		Events: []ipam.Event{e}, History: []ipam.Hold{trail.EndedHold(a, event.At)},
	}
	l.AddTo(&ch)
	return ch, nil
}

// coolRetained plans the start of a retained block's cool-down.
func coolRetained(ctx context.Context, tx storage.Tx, a ipam.Allocation, event ipam.Event, after time.Duration, revision ipam.ID) (storage.Changes, error) {
	quotas, err := tx.QuotaParts(ctx, []ipam.ID{a.HolderProjectID}, quota.ShardOf(a.ContainerID))
	if err != nil {
		return storage.Changes{}, err
	}
	e, err := trail.Effected(event, trail.RecordedAllocation(a), nil)
	if err != nil {
		return storage.Changes{}, err
	}
	ended, next := trail.EndedHold(a, event.At), a
	next.Phase, next.Since, next.CoolUntil = ipam.PhaseCoolingDown, ended.Until, event.At.Add(after)
	next.Revision, next.UpdatedAt = revision, event.At
	l := quota.NewLedger(tx, quotas)
	l.Give(a.HolderProjectID, quota.AllocationSubject(a), ipam.Usage{Addresses: freespace.Size(a.Block)})
	ch := storage.Changes{
		AllocationUpdate: &storage.AllocationUpdate{Was: a.Revision, Now: next},
		Events:           []ipam.Event{e}, History: []ipam.Hold{ended},
	}
	l.AddTo(&ch)
	return ch, nil
}

// stillBound returns the refusal to delete a bound allocation. The refusal names the object to delete instead.
func stillBound(key storage.ProjectKey, a ipam.Allocation) error {
	if a.Purpose == ipam.PurposeClaim && a.HolderProjectID != key.ID {
		return ipam.Errorf(ipam.CodeInUse, "Allocation %s (%s) is bound: project %q has claimed it, and only that project can release it.", a.ID, a.Block, a.Holder.Project)
	}
	e := ipam.Errorf(ipam.CodeInUse, "Allocation %s (%s) is bound: delete its %s instead.", a.ID, a.Block, holderWord(a))
	if a.Holder != (ipam.Ref{}) {
		e.Figures.ConflictsWith = []string{a.Holder.String()}
	}
	return e
}

func holderWord(a ipam.Allocation) string {
	switch a.Purpose {
	case ipam.PurposeChildPool, ipam.PurposeRootPool:
		return "pool " + a.Holder.String()
	case ipam.PurposeReservation:
		return "reservation, in the spec of pool " + a.Pool.String() + ","
	case ipam.PurposeClaim:
		return "claim " + a.Holder.String()
	default:
		return "holder"
	}
}

// reuseAfterOf returns the cool-down for a retained block that its holder releases. The cool-down comes from the class that served the claim, even if
// the class's visibility has changed. Without such a class, it comes from the pool.
func reuseAfterOf(ctx context.Context, read storage.Reader, a ipam.Allocation) (time.Duration, error) {
	pool, err := read.PoolGetByID(ctx, a.ContainerID)
	if err != nil || a.Class.IsZero() {
		return resolve.Request{}.ReuseAfter(pool), err
	}
	owner, _, err := storage.IgnoreNotFound(read.ProjectGet(ctx, a.Class.Ref.Project))
	if err != nil {
		return 0, err
	}
	class, found, err := storage.IgnoreNotFound(read.ClassGet(ctx, storage.Key(owner), a.Class.Ref.Name))
	if found = found && class.UID == a.Class.ID; !found {
		return resolve.Request{}.ReuseAfter(pool), err
	}
	return resolve.Request{Class: &class}.ReuseAfter(pool), err
}
