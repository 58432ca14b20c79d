package storage

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

// AllocationReader reads allocations.
type AllocationReader interface {
	AllocationGet(ctx context.Context, project ProjectKey, id ipam.ID) (ipam.Allocation, error)
	// AllocationList returns a project's allocations in order of (container, address).
	AllocationList(ctx context.Context, project ProjectKey, after AllocationCursor, limit int) ([]ipam.Allocation, error)
	// AllocationListInPool returns a pool's allocations that begin inside within, ordered by address.
	AllocationListInPool(ctx context.Context, pool Container, within netip.Prefix, after netip.Addr, limit int) ([]ipam.Allocation, error)
	// AllocationListRetained returns a project's retained allocations in pools of any project, in the cursor's order.
	AllocationListRetained(ctx context.Context, holder ProjectKey, after RetainedCursor, limit int) ([]ipam.Allocation, error)
	// HeldBefore returns the start of the last block in a container that begins at or before an address. found is false if there is none.
	HeldBefore(ctx context.Context, c Container, at netip.Addr) (begins netip.Addr, found bool, err error)
	// HeldUpTo returns the first allocation in each block, and the last allocation before all blocks, in any region of a pool. The blocks must be
	// ordered by address. Each allocation comes once, ordered by address. The cost is a probe for each block and region, whatever the pool's size.
	HeldUpTo(ctx context.Context, pool ipam.Pool, blocks []netip.Prefix) ([]ipam.Allocation, error)
	// HeldCount counts the allocations in a container.
	HeldCount(ctx context.Context, c Container) (Held, error)
}

// Held counts a container's allocations by purpose. Retained claims count apart from bound ones.
type Held struct{ Claims, Retained, CoolingDown, ChildPools, Reservations, RootPools int64 }

// AllocationCursor is a position in a project's list of allocations.
type AllocationCursor struct {
	ContainerID ipam.ID    `json:"c"`
	Base        netip.Addr `json:"b"`
}
