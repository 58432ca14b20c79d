package storage

import (
	"context"
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// PoolReader reads pools.
type PoolReader interface {
	PoolGet(ctx context.Context, project ProjectKey, name string) (ipam.Pool, error)
	PoolGetByID(ctx context.Context, id ipam.ID) (ipam.Pool, error)
	PoolList(ctx context.Context, project ProjectKey, after string, limit int) ([]ipam.Pool, error)
	// PoolListRoots is PoolList for root pools. A root pool is carved from a space.
	PoolListRoots(ctx context.Context, project ProjectKey, after string, limit int) ([]ipam.Pool, error)
	// PoolListByLabels returns up to limit pools that have all the labels, in name order, after a name.
	PoolListByLabels(ctx context.Context, project ProjectKey, labels map[string]string, after string, limit int) ([]ipam.Pool, error)
	// UtilizationOf returns the recorded use of pools since a time, in time order. It may return older records too.
	UtilizationOf(ctx context.Context, pools []ipam.Pool, since time.Time) (map[ipam.ID][]ipam.UsedAt, error)
	// DrainedPoolList returns up to limit pools with the store's region as their home. These pools are drained for deletion, and contain only
	// reservations in their home region.
	DrainedPoolList(ctx context.Context, limit int) ([]ipam.Pool, error)
	// PoolListOverlapping returns up to limit pools that were carved from the container and overlap the block.
	PoolListOverlapping(ctx context.Context, containerID ipam.ID, block netip.Prefix, limit int) ([]ipam.Pool, error)
}
