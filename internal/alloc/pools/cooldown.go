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

// coolers is the number of containers that FreeCooled handles concurrently. It is small, because requests need database connections too.
const coolers = 4

// maxCooledScan limits the blocks that FreeCooled reads if it cannot free some. It is a multiple of FreeCooled's limit.
const maxCooledScan = 16

type cooler struct{ *usecase.Core }

// FreeCooled frees blocks after the end of their cool-down, in the order in which the cool-downs ended. It returns the number of freed blocks.
// FreeCooled may free more blocks than limit. If it freed at least limit blocks, more blocks may be due. If a container fails, FreeCooled continues
// with the others and returns the error at the end. Several servers may run it at once. The second server to reach a container finds nothing to do
// there.
//
// FreeCooled writes no event. The end of a cool-down is not a user's action, and the trail already has the claim's release. It writes no history and
// changes no quota, because the release has already done both.
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
		if !more || len(failed) == 0 || freed >= limit || look >= limit*maxCooledScan {
			return freed, errors.Join(errs...)
		}
	}
}

// freeCooled frees each container's due blocks in small transactions. It returns the number of freed blocks, and the errors by container.
func (s *cooler) freeCooled(ctx context.Context, due []ipam.Allocation) (int, map[ipam.ID]error) {
	blocks, regions := map[ipam.ID][]netip.Prefix{}, map[ipam.ID]string{} // each region is this server's region
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
			for chunk := range slices.Chunk(blocks[id], usecase.MaxGroup) { // at most one group of blocks, so that claims get the lock in between
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
	_ = g.Wait() // Wait returns no error, because errs contains each container's error
	sum, bad := 0, map[ipam.ID]error{}
	for i, id := range order {
		sum += freed[i]
		if errs[i] != nil {
			bad[id] = errs[i]
		}
	}
	return sum, bad
}

// freeCooledIn frees the blocks in one container that are still due. A COMMIT with an unknown result counts as an error. The next run finds the
// blocks that were not freed.
func (s *cooler) freeCooledIn(ctx context.Context, container ipam.ID, region string, blocks []netip.Prefix) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, usecase.GroupDeadline)
	defer cancel()
	pool, found, err := storage.IgnoreNotFound(s.Store.PoolGetByID(ctx, container))
	if err != nil || !found { // if the pool is gone, its owner has ended the cool-downs and deleted it
		return 0, err
	}
	c := storage.PoolContainer(storage.Placed(pool, region))
	release, err := s.Locks.Acquire(ctx, c.Lock())
	if err != nil {
		return 0, err
	}
	defer release()
	return usecase.InTx(ctx, s.Core, "cooldown_free", storage.Locks{Exclusive: []ipam.ID{c.Lock()}}, false, func(ctx context.Context, tx storage.Tx) (int, error) {
		if err := regions.Fenced(ctx, tx, storage.Placed(pool, region)); err != nil {
			return 0, err
		}
		held, err := tx.HeldAt(ctx, []storage.Container{c}, blocks)
		if err != nil {
			return 0, err
		}
		now := tx.Now() // the same clock has set the start of the cool-down
		held = slices.DeleteFunc(held, func(a ipam.Allocation) bool {
			return a.Phase != ipam.PhaseCoolingDown || a.CoolUntil.After(now) // another run has freed the block, and it is held or cooling down again
		})
		if len(held) == 0 {
			return 0, nil
		}
		free, err := freedChange(ctx, tx, c, held)
		if err != nil {
			return 0, err
		}
		return len(held), tx.Write(ctx, storage.Changes{Free: []storage.FreeChange{free}, AllocationDelete: held})
	})
}

// freedChange returns the change to a container's free blocks when allocations are released.
func freedChange(ctx context.Context, tx storage.Tx, c storage.Container, held []ipam.Allocation) (storage.FreeChange, error) {
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

// EndCooling returns the changes that end a block's cool-down early. The block has no holder, so no quota and no history changes.
func EndCooling(ctx context.Context, tx storage.Tx, a ipam.Allocation, event ipam.Event) (storage.Changes, error) {
	pool, err := tx.PoolGetByID(ctx, a.ContainerID)
	if err != nil {
		return storage.Changes{}, err
	}
	if err := regions.Fenced(ctx, tx, storage.Placed(pool, a.Region)); err != nil {
		return storage.Changes{}, err
	}
	free, err := freedChange(ctx, tx, storage.PoolContainer(storage.Placed(pool, a.Region)), []ipam.Allocation{a})
	if err != nil {
		return storage.Changes{}, err
	}
	e, err := trail.Effected(event, trail.RecordedAllocation(a), nil)
	return storage.Changes{Free: []storage.FreeChange{free}, AllocationDelete: []ipam.Allocation{a}, Events: []ipam.Event{e}}, err
}
