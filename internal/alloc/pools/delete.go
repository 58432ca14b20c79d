package pools

import (
	"context"
	"net/netip"
	"strconv"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/carve"
	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/quota"
	"github.com/carve-ipam/carve/internal/alloc/refusals"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

type deleter struct {
	*usecase.Core

	regions *regions.Regions
}

// DeletePool deletes an empty pool with its reservations and grants. It frees the pool's block in the container from which the pool was carved.
func (s *deleter) DeletePool(ctx context.Context, project, name string, r usecase.Request) error {
	_, key, err := s.Enter(ctx, tenancy.PoolsWrite, project)
	if err != nil {
		return err
	}
	first, err := s.Store.PoolGet(ctx, key, name)
	if err != nil {
		return err
	}
	event := trail.Attempt(ctx, s.Now(), key.ID, trail.KindPool, name)
	if !first.MultiRegion() {
		return s.deletePool(ctx, key, first, r, event)
	}
	return s.deleteRegional(ctx, key, first, r, event)
}

// deletePool deletes a pool that has no blocks outside its home region.
func (s *deleter) deletePool(ctx context.Context, key storage.ProjectKey, first ipam.Pool, r usecase.Request, event ipam.Event) error {
	_, err := usecase.RetryUnlocked(ctx, s.Core, func() (none struct{}, err error) { return none, s.deleteLocked(ctx, key, first, r, event) })
	return err
}

func (s *deleter) deleteLocked(ctx context.Context, key storage.ProjectKey, first ipam.Pool, r usecase.Request, event ipam.Event) error {
	locks, err := uncarveLocks(ctx, s.Store, first)
	if err != nil {
		return err
	}
	locks.TryShared = true
	release, err := s.Locks.Acquire(ctx, locks.Exclusive...)
	if err != nil {
		return err
	}
	defer release()
	_, err = usecase.RunWithReadBack(ctx, s.Core, "pool_delete", locks, r.DryRun, func(ctx context.Context, tx storage.Tx) (struct{}, error) {
		changes, err := uncarvePool(ctx, tx, first, r.IfMatch, event)
		if err != nil {
			return struct{}{}, err
		}
		return struct{}{}, tx.Write(ctx, changes)
	}, func(ctx context.Context) (struct{}, bool, error) {
		got, found, err := storage.IgnoreNotFound(s.Store.PoolGet(ctx, key, first.Name))
		return struct{}{}, !found || got.UID != first.UID, err
	})
	if ipam.IsCode(err, ipam.CodeInUse) {
		return s.inUse(ctx, first, err)
	}
	return err
}

// uncarveLocks returns the locks for uncarvePool. It can read the region of the pool's block before the transaction, because a held block stays in
// its region.
func uncarveLocks(ctx context.Context, read storage.Reader, p ipam.Pool) (storage.Locks, error) {
	from := p.ContainerID // a space exists only in its home region
	if !p.Root() {
		c, err := holder(ctx, read, p)
		if err != nil {
			return storage.Locks{}, err
		}
		from = c.Lock()
	}
	return storage.Locks{Exclusive: append(storage.PoolLocks(p), from), Shared: []ipam.ID{payer(p)}}, nil
}

// uncarvePool plans a pool's removal. event becomes the record of the removal. If the pool holds anything except reservations, uncarvePool fails with
// in_use.
func uncarvePool(ctx context.Context, tx storage.Tx, locked ipam.Pool, match usecase.Match, event ipam.Event) (storage.Changes, error) {
	p, err := tx.PoolGet(ctx, storage.ProjectKey{ID: locked.ProjectID, Name: locked.Project}, locked.Name)
	if err != nil {
		return storage.Changes{}, err
	}
	if err := storage.SameThing(locked.UID, p.UID); err != nil {
		return storage.Changes{}, err
	}
	if err := match.Check(p.Revision); err != nil {
		return storage.Changes{}, err
	}
	c := storage.PoolContainer(p)
	regions, err := regions.EndRegions(ctx, tx, p, p.Spec.Regions, false)
	if err != nil {
		return storage.Changes{}, err
	}
	held, free, err := onlyReservations(ctx, tx, p, c)
	if err != nil {
		return storage.Changes{}, err
	}
	from, err := holder(ctx, tx, p)
	if err != nil {
		return storage.Changes{}, err
	}
	hold, returned, err := freeBlock(ctx, tx, p, from)
	if err != nil {
		return storage.Changes{}, err
	}
	quotas, err := poolQuotas(ctx, tx, payer(p), p.ContainerID)
	if err != nil {
		return storage.Changes{}, err
	}
	quotas.Give(payer(p), quota.PoolSubject(p), OnePool)
	if event, err = trail.Effected(event, trail.RecordedPool(p), nil); err != nil {
		return storage.Changes{}, err
	}
	of := storage.GrantsOfPool(p)
	ch := storage.Changes{
		Free:             []storage.FreeChange{{Container: c, Delete: free}, returned},
		AllocationDelete: append(held, hold),
		PoolDelete:       &p,
		AccessChanges:    storage.AccessChanges{GrantsDelete: &of},
		Events:           []ipam.Event{event},
		RegionChanges:    storage.RegionChanges{PoolRegionDelete: regions},
	}
	if !p.Root() { // a root pool's allocation is in a space, and history has only holds in pools
		ch.History = []ipam.Hold{trail.EndedHold(hold, tx.Now())}
	}
	quotas.AddTo(&ch)
	return ch, nil
}

// freeBlock plans to free a pool's block in its container. It returns the pool's allocation in the container, and the change to the free blocks.
func freeBlock(ctx context.Context, tx storage.Tx, p ipam.Pool, from storage.Container) (ipam.Allocation, storage.FreeChange, error) {
	hold, err := tx.AllocationListInPool(ctx, from, p.Block, netip.Addr{}, 1)
	if err != nil {
		return ipam.Allocation{}, storage.FreeChange{}, err
	}
	if len(hold) != 1 || hold[0].Block != p.Block {
		return ipam.Allocation{}, storage.FreeChange{},
			ipam.Errorf(ipam.CodeInternal, "The parent of pool %s has no allocation for it; run the audit.", p.Ref())
	}
	around, err := tx.FreeRead(ctx, from, carve.Reads(from, []netip.Prefix{p.Block}, nil))
	if err != nil {
		return ipam.Allocation{}, storage.FreeChange{}, err
	}
	k, err := carve.NewCarver(from, []netip.Prefix{p.Block}, around)
	if err != nil {
		return ipam.Allocation{}, storage.FreeChange{}, err
	}
	return hold[0], k.Change(), nil
}

// payer returns the project whose quotas count the pool. For a scope pool, it is the project that the scope belongs to. Otherwise it is the pool's
// owner.
func payer(p ipam.Pool) ipam.ID {
	if p.Scope != nil {
		return p.Scope.ProjectID
	}
	return p.ProjectID
}

// onlyReservations returns all rows of a pool if the pool holds only reservations. Otherwise it fails with in_use.
func onlyReservations(ctx context.Context, tx storage.Tx, p ipam.Pool, c storage.Container) (held []ipam.Allocation, free []netip.Prefix, err error) {
	held, err = tx.AllocationListInPool(ctx, c, p.Block, netip.Addr{}, maxHeldToDelete)
	if err != nil {
		return nil, nil, err
	}
	tiles := make([]netip.Prefix, 0, len(held))
	for _, a := range held {
		if a.Purpose != ipam.PurposeReservation {
			return nil, nil, ipam.Errorf(ipam.CodeInUse, "Pool %s still holds blocks. Release its claims and delete its child pools first.", p.Ref())
		}
		tiles = append(tiles, a.Block)
	}
	free, err = tx.FreeList(ctx, c, p.Block.Addr().BitLen(), netip.Prefix{}, maxFreeToDelete)
	if err != nil {
		return nil, nil, err
	}
	if err := freespace.Tiles(p.Block, append(tiles, free...)); err != nil {
		return nil, nil, ipam.Errorf(ipam.CodeInternal, "Pool %s is inconsistent and was not deleted; run the audit.", p.Ref()).WithCause(err)
	}
	return held, free, nil
}

// holder returns the container from which a pool was carved. A root pool's space may belong to another project. holder does not check the grant,
// because an existing pool no longer depends on it.
func holder(ctx context.Context, read storage.Reader, p ipam.Pool) (storage.Container, error) {
	if p.Root() {
		sp, err := read.SpaceGet(ctx, storage.ProjectKey{ID: p.ContainerProjectID, Name: p.Space.Project}, p.Space.Name)
		return storage.SpaceContainer(sp, p.Family()), err
	}
	parent, err := read.PoolGetByID(ctx, p.ContainerID)
	if err != nil {
		return storage.Container{}, err
	}
	if parent, err = regions.WhereLent(ctx, read, parent, p.Block); err == nil {
		err = regions.Fenced(ctx, read, parent)
	}
	return storage.PoolContainer(parent), err
}

// inUse adds to the refusal how many objects the pool holds. It counts them outside the transaction.
func (s *deleter) inUse(ctx context.Context, p ipam.Pool, refused error) error {
	held, err := s.heldIn(ctx, storage.PoolContainers(p))
	if err != nil || held.Claims+held.Retained+held.ChildPools+held.CoolingDown == 0 {
		return refused
	}
	holding := usecase.CountOf(held.Claims, "claim") + ", " + usecase.CountOf(held.Retained, "retained allocation") + " and " + usecase.CountOf(held.ChildPools, "child pool")
	e := ipam.Errorf(ipam.CodeInUse, "Pool %s still holds %s; nothing was changed.", p.Ref(), holding)
	if held.Claims+held.Retained+held.ChildPools == 0 {
		e = ipam.Errorf(ipam.CodeInUse, "Pool %s cannot be deleted yet; nothing was changed.", p.Ref())
	}
	if held.Claims+held.ChildPools == 0 && held.Retained > 0 {
		e.Code, e.Figures.ConflictsWith = ipam.CodeAllocationRetained, s.retainedNames(ctx, p)
	}
	e.Figures.Claims, e.Figures.Retained, e.Figures.ChildPools = &held.Claims, &held.Retained, &held.ChildPools
	return s.stillCooling(ctx, p, held.CoolingDown, e)
}

func (s *deleter) heldIn(ctx context.Context, containers []storage.Container) (sum storage.Held, err error) {
	for _, c := range containers {
		h, err := s.Store.HeldCount(ctx, c)
		if err != nil {
			return sum, err
		}
		sum.Claims, sum.Retained, sum.CoolingDown = sum.Claims+h.Claims, sum.Retained+h.Retained, sum.CoolingDown+h.CoolingDown
		sum.ChildPools, sum.Reservations, sum.RootPools = sum.ChildPools+h.ChildPools, sum.Reservations+h.Reservations, sum.RootPools+h.RootPools
	}
	return sum, nil
}

// stillCooling adds to the refusal how many blocks in the pool are cooling down. If one read can find the end of the last cool-down, it also adds
// this time.
func (s *deleter) stillCooling(ctx context.Context, p ipam.Pool, n int64, e *ipam.Error) error {
	if n == 0 {
		return e
	}
	e.Message += " It has " + usecase.CountOf(n, "block") + " cooling down"
	rows, err := s.Store.AllocationListInPool(ctx, storage.PoolContainer(p), p.Block, netip.Addr{}, maxHeldToDelete)
	if err == nil && len(rows) < maxHeldToDelete { // if there are more rows, the refusal has no time
		for _, a := range rows {
			if a.CoolUntil.After(e.Figures.CooledDownAt) {
				e.Figures.CooledDownAt = a.CoolUntil.UTC()
			}
		}
	}
	if !e.Figures.CooledDownAt.IsZero() {
		e.Message += ", the last of them until " + e.Figures.CooledDownAt.Format(time.RFC3339)
	}
	e.Message += "; deleting an allocation ends its cool-down."
	return e
}

// retainedNames returns the names of a few retained allocations that prevent a pool's deletion.
func (s *deleter) retainedNames(ctx context.Context, p ipam.Pool) []string {
	rows, err := s.Store.AllocationListInPool(ctx, storage.PoolContainer(p), p.Block, netip.Addr{}, refusals.MaxPoolsNamed)
	if err != nil {
		return nil // the refusal needs no names
	}
	var names []string
	for _, a := range rows {
		if a.Phase == ipam.PhaseRetained {
			names = append(names, a.Project+"/"+a.ID.String())
		}
	}
	return names
}

// maxHeldToDelete is one more than MaxReservedBlocks, so that a read with this limit includes any other allocation.
const maxHeldToDelete = ipam.MaxReservedBlocks + 1

// maxFreeToDelete limits the free rows in a pool that holds only reservations. Each reserved block leaves at most one free block for each length on
// both sides.
const maxFreeToDelete = ipam.MaxReservedBlocks * 2 * 128

func reservationPointer(i int) string { return "/spec/reservations/" + strconv.Itoa(i) }

// deleteRegional deletes a pool that serves several regions. It first recalls all free blocks to the home region.
func (s *deleter) deleteRegional(ctx context.Context, key storage.ProjectKey, p ipam.Pool, r usecase.Request, event ipam.Event) error {
	_, err := usecase.Rounds(func(round int) (_ ipam.Pool, again bool, err error) {
		if round > 0 { // the pool may serve other regions by now
			now, err := s.Store.PoolGet(ctx, key, p.Name)
			if err == nil {
				err = storage.SameThing(p.UID, now.UID)
			}
			if err != nil {
				return p, false, err
			}
			p = now
		}
		if held, err := s.heldIn(ctx, storage.PoolContainers(p)[1:]); err != nil {
			return p, false, err
		} else if held != (storage.Held{}) {
			if err := r.IfMatch.Check(p.Revision); err != nil {
				return p, false, err
			}
			return p, false, s.inUse(ctx, p, ipam.Errorf(ipam.CodeInUse, "Pool %s still holds blocks. Release its claims and delete its child pools first.", p.Ref()))
		}
		if r.DryRun {
			return p, false, s.checkDeletable(ctx, p, r)
		}
		if err := s.regions.BringHome(ctx, p, regions.OthersOf(p)...); err != nil {
			return p, false, err
		}
		err = s.deletePool(ctx, key, p, r, event)
		if !ipam.IsCode(err, ipam.CodeInUse) {
			return p, false, err
		}
		if loans, failed := s.Store.LoansOver(ctx, p.UID, p.Block, 1); failed != nil || len(loans) == 0 {
			return p, false, err // the block in use is in the home region
		}
		return p, true, nil
	})
	return err
}

// checkDeletable checks whether a pool can be deleted. The pool must hold nothing outside its home region.
func (s *deleter) checkDeletable(ctx context.Context, p ipam.Pool, r usecase.Request) error {
	held, err := s.heldIn(ctx, storage.PoolContainers(p)[:1])
	if err == nil && held != (storage.Held{Reservations: held.Reservations}) {
		err = s.inUse(ctx, p, ipam.Errorf(ipam.CodeInUse, "Pool %s still holds blocks. Release its claims and delete its child pools first.", p.Ref()))
	}
	if err == nil {
		err = r.IfMatch.Check(p.Revision)
	}
	return err
}
