package storage

import (
	"context"
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

type prefix = netip.Prefix

// TrailReader reads what has happened: the audit trail, and who held which block when.
type TrailReader interface {
	// EventList answers up to limit events of a project's trail with ids below before (zero: the newest) and not below
	// from (zero: all), newest first.
	EventList(ctx context.Context, project ProjectKey, from, before ipam.ID, limit int) ([]ipam.Event, error)

	// PoolListCovering answers the project's pools whose blocks are among the candidates, at most limit.
	PoolListCovering(ctx context.Context, project ProjectKey, candidates []netip.Prefix, limit int) ([]ipam.Pool, error)
	// HeldAt answers the allocations in the pools whose blocks are among the candidates.
	HeldAt(ctx context.Context, pools []Container, candidates []netip.Prefix) ([]ipam.Allocation, error)
	// HeldElsewhere returns those candidates that some projects hold now by claims in pools of none of them, at most limit.
	HeldElsewhere(ctx context.Context, holders []ipam.ID, candidates []netip.Prefix, limit int) ([]ipam.Allocation, error)
	// HistoryAt answers the holds of the candidates in the project's pools that had begun at a time and ended after it.
	HistoryAt(ctx context.Context, project ProjectKey, candidates []netip.Prefix, at time.Time, limit int) ([]ipam.Hold, error)
	// HistoryList answers up to limit holds of the candidates that ended before the cursor (zero: the newest), newest first.
	HistoryList(ctx context.Context, project ProjectKey, candidates []netip.Prefix, before HistoryCursor, limit int) ([]ipam.Hold, error)

	// AllocationGetByID finds an allocation that concerns a project: it is in a pool of the project, or the project holds it. Others are not found by
	// the same statements, with as much to do.
	AllocationGetByID(ctx context.Context, of ProjectKey, id ipam.ID) (ipam.Allocation, error)
}

// HistoryCursor is a place in a list of holds: newest first, then by id, the largest first.
type HistoryCursor struct {
	Until time.Time
	ID    ipam.ID
}
