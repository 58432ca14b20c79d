package storage

import (
	"context"
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

type prefix = netip.Prefix

// TrailReader reads the past: the audit trail, and the holders of blocks.
type TrailReader interface {
	// EventList returns up to limit events of a project's trail, newest first, with ids below before (zero: the newest) and not below from (zero:
	// all).
	EventList(ctx context.Context, project ProjectKey, from, before ipam.ID, limit int) ([]ipam.Event, error)

	// PoolListCovering returns at most limit pools of the project with blocks among the candidates.
	PoolListCovering(ctx context.Context, project ProjectKey, candidates []netip.Prefix, limit int) ([]ipam.Pool, error)
	// HeldAt returns the allocations in the pools with blocks among the candidates.
	HeldAt(ctx context.Context, pools []Container, candidates []netip.Prefix) ([]ipam.Allocation, error)
	// HeldElsewhere returns at most limit candidates that these projects hold now by claims in other projects' pools.
	HeldElsewhere(ctx context.Context, holders []ipam.ID, candidates []netip.Prefix, limit int) ([]ipam.Allocation, error)
	// HistoryAt returns the holds of the candidates in the project's pools that began at or before a time and ended after it.
	HistoryAt(ctx context.Context, project ProjectKey, candidates []netip.Prefix, at time.Time, limit int) ([]ipam.Hold, error)
	// HistoryList returns up to limit holds of the candidates that ended before the cursor (zero: the newest), newest first.
	HistoryList(ctx context.Context, project ProjectKey, candidates []netip.Prefix, before HistoryCursor, limit int) ([]ipam.Hold, error)

	// AllocationGetByID returns an allocation that is in a pool of the project or that the project holds. For any other allocation it runs the same
	// statements at the same cost, and returns not found.
	AllocationGetByID(ctx context.Context, of ProjectKey, id ipam.ID) (ipam.Allocation, error)
}

// HistoryCursor is a position in a list of holds: newest first, then by id, the largest first.
type HistoryCursor struct {
	Until time.Time
	ID    ipam.ID
}
