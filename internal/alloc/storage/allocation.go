package storage

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

// AllocationReader reads what is held.
type AllocationReader interface {
	AllocationGet(ctx context.Context, project ProjectKey, id ipam.ID) (ipam.Allocation, error)
	// AllocationList answers a project's allocations in order of (container, address).
	AllocationList(ctx context.Context, project ProjectKey, after AllocationCursor, limit int) ([]ipam.Allocation, error)
	// AllocationListInPool answers a pool's allocations whose blocks begin inside within, in order of address.
	AllocationListInPool(ctx context.Context, pool Container, within netip.Prefix, after netip.Addr, limit int) ([]ipam.Allocation, error)
	// AllocationListRetained answers what a project has retained in pools of any project, in the cursor's order.
	AllocationListRetained(ctx context.Context, holder ProjectKey, after RetainedCursor, limit int) ([]ipam.Allocation, error)
	// HeldBefore answers where the last block begins that is held in a container at or before an address; found is false when there is none.
	HeldBefore(ctx context.Context, c Container, at netip.Addr) (begins netip.Addr, found bool, err error)
	// HeldUpTo answers of each of some blocks, in order of address, the first that is held in it, and the last that is held before all of them, in any region of a
	// pool: each once, in order of address. It costs a probe for each block and region, whatever the pool holds.
	HeldUpTo(ctx context.Context, pool ipam.Pool, blocks []netip.Prefix) ([]ipam.Allocation, error)
	// HeldCount counts what is held in a container.
	HeldCount(ctx context.Context, c Container) (Held, error)
}

// Held counts the rows held in a container by purpose; Retained claims are counted apart from bound ones.
type Held struct{ Claims, Retained, CoolingDown, ChildPools, Reservations, RootPools int64 }

// AllocationCursor is a place in a project's allocations.
type AllocationCursor struct {
	ContainerID ipam.ID    `json:"c"`
	Base        netip.Addr `json:"b"`
}
