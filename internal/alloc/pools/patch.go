package pools

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/carve"
	"github.com/carve-ipam/carve/internal/alloc/refusals"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// patcher changes pools.
type patcher struct {
	*usecase.Core

	regions *regions.Regions
}

// PatchPool changes what may change of a pool by mutate, which must be pure. Reservations that are new are carved, and
// those that are gone are given back, in the same transaction. No difference: nothing is written.
func (s *patcher) PatchPool(ctx context.Context, project, name string, r usecase.Request, mutate func(ipam.Pool) (ipam.Pool, error)) (ipam.Pool, error) {
	who, key, err := s.Enter(ctx, tenancy.PoolsWrite, project)
	if err != nil {
		return ipam.Pool{}, err
	}
	return usecase.Rounds(func(int) (p ipam.Pool, again bool, err error) {
		first, err := s.Store.PoolGet(ctx, key, name)
		if err != nil {
			return first, false, err
		}
		emptied, err := s.regions.PrepareRegions(ctx, first, r, mutate)
		if err != nil {
			return first, false, err
		}
		p, err = s.patchPool(ctx, who, key, first, r, mutate)
		if len(emptied) == 0 || !ipam.IsCode(err, ipam.CodeInUse) {
			return p, false, err
		}
		if held, failed := s.regions.HoldsIn(ctx, first, emptied); failed != nil || held {
			return p, false, err
		}
		return p, true, nil // it was lent between the two
	})
}

// patchPool changes a pool for which all is prepared.
func (s *patcher) patchPool(
	ctx context.Context, who tenancy.Principal, key storage.ProjectKey, first ipam.Pool, r usecase.Request, mutate func(ipam.Pool) (ipam.Pool, error),
) (ipam.Pool, error) {
	name := first.Name
	release, err := s.Lanes.Acquire(ctx, storage.PoolLocks(first)...)
	if err != nil {
		return first, err
	}
	defer release()
	added, classes, err := s.listedAnew(ctx, key, first, mutate)
	if err != nil {
		return first, err
	}
	revision, now := ipam.NewID(), s.Now()
	locks := storage.Locks{Alone: storage.PoolLocks(first)}.And(listingLocks(key, added, classes))
	p, err := usecase.Settled(ctx, s.Core, "pool_patch", locks, r.DryRun, func(ctx context.Context, tx storage.Tx) (ipam.Pool, error) {
		was, err := tx.PoolGet(ctx, key, name)
		if err != nil {
			return was, err
		}
		if err := storage.SameThing(first.UID, was.UID); err != nil {
			return was, err
		}
		if err := r.IfMatch.Check(was.Revision); err != nil {
			return was, err
		}
		next, err := mutate(was)
		if err != nil {
			return was, err
		}
		specChanged := !samePolicy(was.Spec, next.Spec)
		if !specChanged && usecase.SameMeta(was.Metadata, next.Metadata) {
			return was, nil
		}
		if err := usecase.CheckChanged(next.Metadata, next.Spec.Check()); err != nil {
			return was, err
		}
		if err := checkVisibility(key.Name, next.Spec.Visibility); err != nil {
			return was, err
		}
		if err := next.Spec.Allocation.CheckFor(next.Block); err != nil {
			return was, err
		}
		if err := checkScoped(next); err != nil {
			return was, err
		}
		next.Spec.Region = was.Region
		if err := regions.SettleRegions(ctx, tx, &next.Spec); err != nil {
			return was, err
		}
		if next.Classes, err = listed(ctx, tx, key, next.Spec.ClassNames, next.Family(), was.Classes, classes); err != nil {
			return was, err
		}
		usecase.Touch(&next.Metadata, was.Metadata, specChanged, revision, now)
		changes, err := s.rereserve(ctx, tx, was, next, who.Subject)
		if err != nil {
			return was, err
		}
		changes.PoolUpdate = &storage.PoolUpdate{Was: was.Revision, Now: next}
		if changes.RegionChanges, err = regions.Reregion(ctx, tx, was, next, r.DryRun); err != nil {
			return was, err
		}
		changes.PoolUpdate.Now = next
		event, err := trail.Changed(ctx, now, key.ID, trail.KindPool, name, trail.RecordedPool(was), trail.RecordedPool(next))
		if err != nil {
			return was, err
		}
		changes.Events = []ipam.Event{event}
		if err := tx.Write(ctx, changes); err != nil {
			return next, err
		}
		return regions.WithStanding(ctx, tx, next) // read here: after the commit a failure to read could not be told from a failure to change
	}, func(ctx context.Context) (ipam.Pool, bool, error) {
		got, found, err := storage.IgnoreNotFound(s.Store.PoolGet(ctx, key, name))
		if err != nil || !found || got.Revision != revision {
			return got, false, err
		}
		got, err = regions.WithStanding(ctx, s.Store, got) // likewise, and in the time there is for reading back
		return got, err == nil, err
	})
	if err != nil || p.Stock.Free != nil {
		return p, err
	}
	return regions.WithStanding(ctx, s.Store, p)
}

func samePolicy(a, b ipam.PoolSpec) bool {
	return a.Visibility == b.Visibility && a.Description == b.Description && a.Allocation.Equal(b.Allocation) &&
		slices.Equal(a.Reservations, b.Reservations) && slices.Equal(a.ClassNames, b.ClassNames) && slices.Equal(a.Regions, b.Regions) && sameTime(a.ReuseAfter, b.ReuseAfter)
}

func sameTime(a, b *time.Duration) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }

// listedAnew foretells, from the pool as it was read first, which names a patch adds to those that the pool lists, and the classes that
// these mean. Whatever is wrong with the patch is for the transaction to say.
func (s *patcher) listedAnew(ctx context.Context, key storage.ProjectKey, first ipam.Pool, mutate func(ipam.Pool) (ipam.Pool, error)) (names []string, classes []ipam.ID, err error) {
	next, refused := mutate(first)
	if refused == nil {
		refused = next.Spec.Check()
	}
	if refused != nil {
		return nil, nil, nil //nolint:nilerr // the transaction meets it again, in its place among other refusals
	}
	names = newlyListed(next.Spec.ClassNames, first.Classes)
	classes, err = classesToList(ctx, s.Store, key, names)
	return names, classes, err
}

// rereserve plans the difference between two lists of reservations.
func (s *patcher) rereserve(ctx context.Context, tx storage.Tx, was, next ipam.Pool, subject string) (storage.Changes, error) {
	if slices.Equal(was.Spec.Reservations, next.Spec.Reservations) {
		return storage.Changes{}, nil
	}
	before, err := carve.CutReservations(was.Block, was.Spec.Reservations)
	if err != nil {
		return storage.Changes{}, err
	}
	after, err := carve.CutReservations(next.Block, next.Spec.Reservations)
	if err != nil {
		return storage.Changes{}, err
	}
	kept := map[carve.Reserved]bool{} // same block, same reason
	for _, r := range before {
		r.Index = 0
		kept[r] = false
	}
	var added []carve.Reserved
	for _, r := range after {
		same := r
		same.Index = 0
		if _, ok := kept[same]; ok {
			kept[same] = true
		} else {
			added = append(added, r)
		}
	}
	if err := regions.Fenced(ctx, tx, storage.Placed(was, was.Region)); err != nil {
		return storage.Changes{}, err
	}
	c := storage.PoolContainer(was)
	var changes storage.Changes
	var freed []netip.Prefix
	for r, stays := range kept {
		if !stays {
			freed = append(freed, r.Block)
		}
	}
	if changes.AllocationDelete, err = heldAt(ctx, tx, c, freed); err != nil {
		return storage.Changes{}, err
	}
	wishes := make([]space.Wish, len(added))
	for i, r := range added {
		wishes[i] = space.Wish{Exact: r.Block}
	}
	free, err := tx.FreeRead(ctx, c, carve.Reads(c, freed, wishes))
	if err != nil {
		return storage.Changes{}, err
	}
	k, err := carve.NewCarver(c, freed, free)
	if err != nil {
		return storage.Changes{}, err
	}
	next.CreatedBy = subject
	for i, r := range added {
		if _, ok := k.Take(wishes[i]); !ok {
			return storage.Changes{}, refusals.TakenRefusal(ctx, tx, refusals.Telling{Viewer: storage.ProjectKey{ID: was.ProjectID, Name: was.Project}}, was, r.Block, reservationPointer(r.Index))
		}
		changes.AllocationInsert = append(changes.AllocationInsert, reservationOf(next, r))
	}
	changes.Free = []storage.FreeChange{k.Change()}
	return changes, nil
}

// heldAt reads the allocations of blocks that are held. It reads those alone, whatever else the pool holds: one read for
// each run of blocks without a gap between them. It sorts the blocks.
func heldAt(ctx context.Context, tx storage.Tx, c storage.Container, blocks []netip.Prefix) ([]ipam.Allocation, error) {
	slices.SortFunc(blocks, space.Compare)
	held := make([]ipam.Allocation, 0, len(blocks))
	for rest := blocks; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Addr() == space.Last(rest[n-1]).Next() {
			n++
		}
		run, err := tx.AllocationListInPool(ctx, c, c.Block, rest[0].Addr().Prev(), n)
		if err != nil {
			return nil, err
		}
		if !slices.EqualFunc(run, rest[:n], func(a ipam.Allocation, b netip.Prefix) bool { return a.Block == b }) {
			return nil, ipam.Errorf(ipam.CodeInternal, "The reservations of pool %s do not add up and were not changed; run the audit.", c.Pool)
		}
		held, rest = append(held, run...), rest[n:]
	}
	return held, nil
}
