package storage

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

// AllocationReader reads allocations.
type AllocationReader interface {
	AllocationGet(ctx context.Context, project ProjectKey, id ipam.ID) (ipam.Allocation, error)
	// AllocationList returns a project's allocations, in the order of container and address.
	AllocationList(ctx context.Context, project ProjectKey, after AllocationCursor, limit int) ([]ipam.Allocation, error)
	// AllocationListInPool returns the allocations in a pool that begin inside the block area, in address order.
	AllocationListInPool(ctx context.Context, pool Container, area netip.Prefix, after netip.Addr, limit int) ([]ipam.Allocation, error)
	// AllocationListRetained returns the allocations that a project has retained, in pools of all projects, in RetainedCursor's order.
	AllocationListRetained(ctx context.Context, holder ProjectKey, after RetainedCursor, limit int) ([]ipam.Allocation, error)
	// HeldBefore returns the start address of the last held block in a container that begins at or before an address. If there is no such block, found
	// is false.
	HeldBefore(ctx context.Context, c Container, address netip.Addr) (start netip.Addr, found bool, err error)
	// HeldUpTo returns the first allocation in each block, and the last allocation before all blocks. It reads all the pool's regions. The blocks
	// must be in address order. The result contains each allocation once, in address order. The cost is one probe for each block and region, for a
	// pool of any size.
	HeldUpTo(ctx context.Context, pool ipam.Pool, blocks []netip.Prefix) ([]ipam.Allocation, error)
	// HeldCount counts the allocations in a container.
	HeldCount(ctx context.Context, c Container) (Held, error)
}

// Held counts the allocations in a container by purpose. Claims counts the bound claims, and Retained counts the retained allocations.
type Held struct{ Claims, Retained, CoolingDown, ChildPools, Reservations, RootPools int64 }

// AllocationCursor is a position in a project's list of allocations.
type AllocationCursor struct {
	ContainerID ipam.ID    `json:"c"`
	Base        netip.Addr `json:"b"`
}
