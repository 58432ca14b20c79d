package pools

import (
	"context"
	"errors"
	"net/netip"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/carve-ipam/carve/internal/alloc/carve"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// coolers is how many containers FreeCooled works on at once: few, because requests need connections too.
const coolers = 4

// maxCooledLook bounds how far FreeCooled looks past blocks that it cannot free, in multiples of its limit.
const maxCooledLook = 16

// cooler frees blocks that have cooled down.
type cooler struct{ *usecase.Core }

// FreeCooled frees blocks whose cool-down is over, those that have waited longest first, and answers how many it freed: limit, or
// somewhat more, if there may be others. It can run on several servers at once: whoever comes second to a container finds nothing to do
// there. What fails in one container is answered, and does not keep the others waiting.
//
// The audit trail and the history say nothing of it. The release of the claim is in the trail, and there ended the hold; that time has
// passed since then is nobody's deed. No quota changes either: the holder's were given back by the release.
func (s *cooler) FreeCooled(ctx context.Context, limit int) (int, error) {
	now, freed, failed := s.Now(), 0, map[ipam.ID]bool{}
	var errs []error
	for look := limit; ; look *= 2 {
		due, err := s.Store.CooledDown(ctx, now, look)
		if err != nil {
			return freed, errors.Join(append(errs, err)...)
		}
		more := len(due) == look
		due = slices.DeleteFunc(due, func(a ipam.Allocation) bool { return failed[a.ContainerID] })
		n, bad := s.freeCooled(ctx, due)
		freed += n
		for id, err := range bad {
			failed[id] = true
			errs = append(errs, err)
		}
		if !more || len(failed) == 0 || freed >= limit || look >= limit*maxCooledLook {
			return freed, errors.Join(errs...)
		}
	}
}

// freeCooled frees what is due, container by container in small transactions, and answers how many blocks were freed, and what went wrong where.
func (s *cooler) freeCooled(ctx context.Context, due []ipam.Allocation) (int, map[ipam.ID]error) {
	blocks, regions := map[ipam.ID][]netip.Prefix{}, map[ipam.ID]string{} // what is due is of one region: this server's
	var order []ipam.ID
	for _, a := range due {
		if blocks[a.ContainerID] == nil {
			order = append(order, a.ContainerID)
			regions[a.ContainerID] = a.Region
		}
		blocks[a.ContainerID] = append(blocks[a.ContainerID], a.Block)
	}
	freed, errs := make([]int, len(order)), make([]error, len(order))
	var g errgroup.Group
	g.SetLimit(coolers)
	for i, id := range order {
		g.Go(func() error {
			for chunk := range slices.Chunk(blocks[id], usecase.MaxGroup) { // no more than a group: claims wait for their turn in between
				n, err := s.freeCooledIn(ctx, id, regions[id], chunk)
				freed[i] += n
				if err != nil {
					errs[i] = err
					return nil
				}
			}
			return nil
		})
	}
	_ = g.Wait() // no error: each has its place
	sum, bad := 0, map[ipam.ID]error{}
	for i, id := range order {
		sum += freed[i]
		if errs[i] != nil {
			bad[id] = errs[i]
		}
	}
	return sum, bad
}

// freeCooledIn frees those of the blocks of one container that still are to be freed. Should the outcome of COMMIT be unknown, that is
// the answer: what was not freed is found again by the next run.
func (s *cooler) freeCooledIn(ctx context.Context, container ipam.ID, region string, blocks []netip.Prefix) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, usecase.GroupDeadline)
	defer cancel()
	pool, found, err := storage.IgnoreNotFound(s.Store.PoolGetByID(ctx, container))
	if err != nil || !found { // its owner has ended the cool-downs, and deleted it
		return 0, err
	}
	c := storage.PoolContainer(storage.Placed(pool, region))
	release, err := s.Lanes.Acquire(ctx, c.Lock())
	if err != nil {
		return 0, err
	}
	defer release()
	return usecase.InTx(ctx, s.Core, "cooldown_free", storage.Locks{Alone: []ipam.ID{c.Lock()}}, false, func(ctx context.Context, tx storage.Tx) (int, error) {
		if err := regions.Fenced(ctx, tx, storage.Placed(pool, region)); err != nil {
			return 0, err
		}
		held, err := tx.HeldAt(ctx, []storage.Container{c}, blocks)
		if err != nil {
			return 0, err
		}
		now := tx.Now() // by the clock that also said when the cool-down began
		held = slices.DeleteFunc(held, func(a ipam.Allocation) bool {
			return a.Phase != ipam.PhaseCoolingDown || a.CoolUntil.After(now) // freed meanwhile, and held by somebody else or cooling down again
		})
		if len(held) == 0 {
			return 0, nil
		}
		free, err := given(ctx, tx, c, held)
		if err != nil {
			return 0, err
		}
		return len(held), tx.Write(ctx, storage.Changes{Free: []storage.FreeChange{free}, AllocationDelete: held})
	})
}

// given is what giving allocations back to their container changes of its free blocks.
func given(ctx context.Context, tx storage.Tx, c storage.Container, held []ipam.Allocation) (storage.FreeChange, error) {
	blocks := make([]netip.Prefix, len(held))
	for i, a := range held {
		blocks[i] = a.Block
	}
	free, err := tx.FreeRead(ctx, c, carve.Reads(c, blocks, nil))
	if err != nil {
		return storage.FreeChange{}, err
	}
	k, err := carve.NewCarver(c, blocks, free)
	if err != nil {
		return storage.FreeChange{}, err
	}
	return k.Change(), nil
}

// EndCooling is what ending the cool-down of a block early changes. Nobody holds it, so that neither a quota nor the history does.
func EndCooling(ctx context.Context, tx storage.Tx, a ipam.Allocation, event ipam.Event) (storage.Changes, error) {
	pool, err := tx.PoolGetByID(ctx, a.ContainerID)
	if err != nil {
		return storage.Changes{}, err
	}
	if err := regions.Fenced(ctx, tx, storage.Placed(pool, a.Region)); err != nil {
		return storage.Changes{}, err
	}
	free, err := given(ctx, tx, storage.PoolContainer(storage.Placed(pool, a.Region)), []ipam.Allocation{a})
	if err != nil {
		return storage.Changes{}, err
	}
	e, err := trail.Effected(event, trail.RecordedAllocation(a), nil)
	return storage.Changes{Free: []storage.FreeChange{free}, AllocationDelete: []ipam.Allocation{a}, Events: []ipam.Event{e}}, err
}
