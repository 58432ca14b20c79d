package pools

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/carve"
	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/kind"
	"github.com/carve-ipam/carve/internal/alloc/refusals"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

type patcher struct {
	*usecase.Core

	regions *regions.Regions
	of      kind.Kind[ipam.Pool]
}

func newPatcher(core *usecase.Core, r *regions.Regions) *patcher {
	return &patcher{core, r, kind.Kind[ipam.Pool]{
		Core: core, Name: trail.KindPool, Op: "pool",
		Head: func(p *ipam.Pool) *ipam.Metadata { return &p.Metadata },
		Find: func(read storage.Reader) kind.Finder[ipam.Pool] { return read.PoolGet },
		Write: func(ch *storage.Changes, was, now *ipam.Pool) {
			ch.PoolUpdate = &storage.PoolUpdate{Was: was.Revision, Now: *now}
		},
		Record:   trail.RecordedPool,
		Check:    func(_ storage.ProjectKey, p ipam.Pool) error { return p.Spec.Check() },
		SameSpec: func(a, b ipam.Pool) bool { return samePolicy(a.Spec, b.Spec) },
		Complete: func(ctx context.Context, read storage.Reader, _ storage.ProjectKey, p ipam.Pool) (ipam.Pool, error) {
			return regions.WithStanding(ctx, read, p)
		},
	}}
}

// PatchPool changes a pool's mutable fields with mutate. mutate must be pure, because PatchPool may call it again. In the same transaction, PatchPool
// carves new reservations and frees removed ones. If mutate changes nothing, it writes nothing.
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
		return p, true, nil // a block was lent to that region meanwhile
	})
}

// patchPool changes a pool after PrepareRegions.
func (s *patcher) patchPool(
	ctx context.Context, who tenancy.Principal, key storage.ProjectKey, first ipam.Pool, r usecase.Request, mutate func(ipam.Pool) (ipam.Pool, error),
) (ipam.Pool, error) {
	release, err := s.Locks.Acquire(ctx, storage.PoolLocks(first)...)
	if err != nil {
		return first, err
	}
	defer release()
	added, classes, err := s.predictListing(ctx, key, first, mutate)
	if err != nil {
		return first, err
	}
	locks := storage.Locks{Exclusive: storage.PoolLocks(first)}.Merge(listingLocks(key, added, classes))
	p, err := s.of.Patch(ctx, key, first.Name, r, locks, func(was ipam.Pool) (ipam.Pool, error) {
		if err := storage.SameThing(first.UID, was.UID); err != nil {
			return was, err
		}
		return mutate(was)
	}, func(ctx context.Context, tx storage.Tx, was, next *ipam.Pool) (storage.Changes, error) {
		if err := s.complete(ctx, tx, key, *was, next, classes); err != nil {
			return storage.Changes{}, err
		}
		changes, err := rereserve(ctx, tx, *was, *next, who.Subject)
		if err == nil {
			changes.RegionChanges, err = regions.RegionChanges(ctx, tx, *was, *next, r.DryRun)
		}
		return changes, err
	})
	if err != nil || p.Stock.Free != nil {
		return p, err
	}
	return regions.WithStanding(ctx, s.Store, p)
}

// complete sets the server's fields in a changed pool, and validates the result.
func (s *patcher) complete(ctx context.Context, tx storage.Tx, key storage.ProjectKey, was ipam.Pool, next *ipam.Pool, classes []ipam.ID) error {
	if err := cmp.Or(checkVisibility(key.Name, next.Spec.Visibility), next.Spec.Allocation.CheckFor(next.Block), checkScoped(*next)); err != nil {
		return err
	}
	next.Spec.Region = was.Region
	if err := regions.NormalizeRegions(ctx, tx, &next.Spec); err != nil {
		return err
	}
	if err := keepListed(ctx, tx, key, was, *next); err != nil {
		return err
	}
	var fresh []ipam.Class
	var err error
	if next.Classes, fresh, err = resolveListed(ctx, tx, key, next.Spec.ClassNames, next.Family(), was.Classes, classes); err != nil {
		return err
	}
	return refuseOverlap(ctx, tx, key, *next, fresh)
}

func samePolicy(a, b ipam.PoolSpec) bool {
	return a.Visibility == b.Visibility && a.Description == b.Description && a.Allocation.Equal(b.Allocation) &&
		a.Drain == b.Drain && slices.Equal(a.Reservations, b.Reservations) && slices.Equal(a.ClassNames, b.ClassNames) && slices.Equal(a.Regions, b.Regions) && sameTime(a.ReuseAfter, b.ReuseAfter)
}

func sameTime(a, b *time.Duration) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }

// predictListing predicts the class names that a patch adds, and the classes to which these names resolve. It uses the pool from the first read. For
// an invalid patch, it returns nothing, because the transaction returns the error.
func (s *patcher) predictListing(ctx context.Context, key storage.ProjectKey, first ipam.Pool, mutate func(ipam.Pool) (ipam.Pool, error)) (names []string, classes []ipam.ID, err error) {
	next, refused := mutate(first)
	if refused == nil {
		refused = next.Spec.Check()
	}
	if refused != nil {
		return nil, nil, nil //nolint:nilerr // the transaction returns the error, in its order among other refusals
	}
	names = newlyListed(next.Spec.ClassNames, first.Classes)
	classes, err = classesToList(ctx, s.Store, key, names)
	return names, classes, err
}

// compareReservations returns the new reservations, and the blocks of the removed reservations. Two reservations are equal if they have the same
// block and reason.
func compareReservations(was, next ipam.Pool) (added []carve.Reserved, freed []netip.Prefix, err error) {
	before, err := carve.CutReservations(was.Block, was.Spec.Reservations)
	if err != nil {
		return nil, nil, err
	}
	after, err := carve.CutReservations(next.Block, next.Spec.Reservations)
	if err != nil {
		return nil, nil, err
	}
	gone := map[carve.Reserved]bool{} // the reservations without their indexes
	for _, r := range before {
		r.Index = 0
		gone[r] = true
	}
	for _, r := range after {
		same := r
		same.Index = 0
		if !gone[same] {
			added = append(added, r)
		}
		delete(gone, same)
	}
	for r := range gone {
		freed = append(freed, r.Block)
	}
	return added, freed, nil
}

// rereserve plans the changes from the old list of reservations to the new one.
func rereserve(ctx context.Context, tx storage.Tx, was, next ipam.Pool, subject string) (storage.Changes, error) {
	if slices.Equal(was.Spec.Reservations, next.Spec.Reservations) {
		return storage.Changes{}, nil
	}
	added, freed, err := compareReservations(was, next)
	if err != nil {
		return storage.Changes{}, err
	}
	if err := regions.Fenced(ctx, tx, storage.Placed(was, was.Region)); err != nil {
		return storage.Changes{}, err
	}
	c := storage.PoolContainer(was)
	var changes storage.Changes
	if changes.AllocationDelete, err = heldAt(ctx, tx, c, freed); err != nil {
		return storage.Changes{}, err
	}
	wishes := make([]freespace.BlockRequest, len(added))
	for i, r := range added {
		wishes[i] = freespace.BlockRequest{Exact: r.Block}
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
			return storage.Changes{}, refusals.TakenRefusal(ctx, tx, refusals.Viewer{Project: storage.ProjectKey{ID: was.ProjectID, Name: was.Project}}, was, r.Block, reservationPointer(r.Index))
		}
		changes.AllocationInsert = append(changes.AllocationInsert, reservationOf(next, r))
	}
	changes.Free = []storage.FreeChange{k.Change()}
	return changes, nil
}

// heldAt reads the allocations for the given held blocks, and no others. It makes one read for each run of adjacent blocks. It sorts blocks.
func heldAt(ctx context.Context, tx storage.Tx, c storage.Container, blocks []netip.Prefix) ([]ipam.Allocation, error) {
	slices.SortFunc(blocks, freespace.Compare)
	held := make([]ipam.Allocation, 0, len(blocks))
	for rest := blocks; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Addr() == freespace.Last(rest[n-1]).Next() {
			n++
		}
		run, err := tx.AllocationListInPool(ctx, c, c.Block, rest[0].Addr().Prev(), n)
		if err != nil {
			return nil, err
		}
		if !slices.EqualFunc(run, rest[:n], func(a ipam.Allocation, b netip.Prefix) bool { return a.Block == b }) {
			return nil, ipam.Errorf(ipam.CodeInternal, "The reservations of pool %s are inconsistent and were not changed; run the audit.", c.Pool)
		}
		held, rest = append(held, run...), rest[n:]
	}
	return held, nil
}
