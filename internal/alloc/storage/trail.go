package storage

import (
	"context"
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

type prefix = netip.Prefix

// TrailReader reads data about the past: the audit trail, and the history of blocks.
type TrailReader interface {
	// EventList returns up to limit events from a project's trail, newest first. The events' ids are lower than end, and not lower than start. A zero
	// id sets no limit.
	EventList(ctx context.Context, project ProjectKey, start, end ipam.ID, limit int) ([]ipam.Event, error)

	// PoolListCovering returns up to limit pools in the project with a block among the candidates.
	PoolListCovering(ctx context.Context, project ProjectKey, candidates []netip.Prefix, limit int) ([]ipam.Pool, error)
	// HeldAt returns the pools' allocations with a block among the candidates.
	HeldAt(ctx context.Context, pools []Container, candidates []netip.Prefix) ([]ipam.Allocation, error)
	// HeldElsewhere returns up to limit candidates that these projects' claims hold now in other projects' pools.
	HeldElsewhere(ctx context.Context, holders []ipam.ID, candidates []netip.Prefix, limit int) ([]ipam.Allocation, error)
	// HistoryAt returns the candidates' holds in the project's pools that began at a time or before it, and ended after it.
	HistoryAt(ctx context.Context, project ProjectKey, candidates []netip.Prefix, at time.Time, limit int) ([]ipam.Hold, error)
	// HistoryList returns up to limit holds on the candidates that ended before the cursor, newest first. A zero cursor means from the newest hold.
	HistoryList(ctx context.Context, project ProjectKey, candidates []netip.Prefix, before HistoryCursor, limit int) ([]ipam.Hold, error)

	// AllocationGetByID returns an allocation in the project's pools, or an allocation that the project holds. For any other allocation, it returns
	// not found. It runs the same statements in all cases, so their cost gives a caller no information.
	AllocationGetByID(ctx context.Context, of ProjectKey, id ipam.ID) (ipam.Allocation, error)
}

// HistoryCursor is a position in a list of holds. The newest hold comes first, and for equal times the largest id.
type HistoryCursor struct {
	Until time.Time
	ID    ipam.ID
}
