package pools

import (
	"context"
	"math/big"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

func withClassStatus(ctx context.Context, read storage.Reader, caller storage.ProjectKey, c ipam.Class) (ipam.Class, error) {
	list := []ipam.Class{c}
	err := fillClassStatus(ctx, read, caller, list)
	return list[0], err
}

// fillClassStatus sets each class's status as the calling project may see it. It handles one class after another, because all classes together may
// have too many pools for the memory.
func fillClassStatus(ctx context.Context, read storage.Reader, caller storage.ProjectKey, classes []ipam.Class) error {
	for i := range classes {
		c := &classes[i]
		pools, err := read.ClassPools(ctx, *c, caller.ID)
		if err != nil {
			return err
		}
		if err := storage.FillStock(ctx, read, pools); err != nil {
			return err
		}
		c.Status = ipam.ClassStatus{BackingPools: int64(len(pools))}
		sumCapacity(c, pools)
		if !c.Scoped() {
			continue
		}
		of := caller.ID
		if c.ProjectID == caller.ID {
			of = ipam.ID{} // count the scope pools for all projects
		}
		if c.Status.ScopedPools, err = read.ScopedPoolCount(ctx, c.UID, of); err != nil {
			return err
		}
	}
	return nil
}

// sumCapacity adds up the sizes and the free addresses of the pools that list a class.
func sumCapacity(c *ipam.Class, pools []ipam.Pool) {
	total, available := new(big.Int), new(big.Int)
	for _, p := range pools {
		if !slices.ContainsFunc(pools, func(q ipam.Pool) bool { return insideOf(p, q) }) {
			total.Add(total, freespace.Size(p.Block))
		}
		if p.Draining() {
			continue
		}
		available.Add(available, p.Stock.Available(c.Spec.Family.Bits()))
		if bits, ok := largestFrom(*c, p); ok && (c.Status.LargestFree == nil || bits < *c.Status.LargestFree) {
			c.Status.LargestFree = &bits
		}
	}
	c.Status.Total, c.Status.Available = total.String(), available.String()
}

// insideOf reports whether p is inside the larger pool q in the same space. Both may list the same class, if p was carved from q.
func insideOf(p, q ipam.Pool) bool {
	return p.SpaceID == q.SpaceID && q.Block.Bits() < p.Block.Bits() && freespace.Contains(q.Block, p.Block)
}

// largestFrom returns the prefix length of the largest block that a claim by the class can now get from a pool. A scoped class carves a new pool for
// each scope. For such a class, the result is for a scope that has no pool yet.
func largestFrom(c ipam.Class, p ipam.Pool) (bits int, ok bool) {
	free, ok := p.Stock.LargestFree()
	if !ok {
		return 0, false
	}
	lo, hi := c.Spec.Bounds()
	poolLo, poolHi := p.Spec.Allocation.Bounds(p.Block)
	if c.Scoped() {
		carved := *c.Spec.PoolPrefixLength
		return lo, lo <= hi && carved >= poolLo && carved <= poolHi && carved >= free
	}
	lo, hi = max(lo, poolLo, free), min(hi, poolHi)
	return lo, lo <= hi
}

// OwnClasses returns the project's own classes with these names. Each class has its status.
func OwnClasses(ctx context.Context, read storage.Reader, key storage.ProjectKey, names []string) ([]ipam.Class, error) {
	found, err := read.ClassesNamed(ctx, key, names)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(c ipam.Class) bool { return c.ProjectID != key.ID })
	return found, fillClassStatus(ctx, read, key, found)
}
