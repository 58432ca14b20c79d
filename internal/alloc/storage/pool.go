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
	// PoolListRoots is PoolList for pools that were carved from a space.
	PoolListRoots(ctx context.Context, project ProjectKey, after string, limit int) ([]ipam.Pool, error)
	// PoolListByLabels returns up to limit pools that carry all the labels, ordered by name, after a name.
	PoolListByLabels(ctx context.Context, project ProjectKey, labels map[string]string, after string, limit int) ([]ipam.Pool, error)
	// UtilizationOf returns the recorded use of pools since a time or longer, ordered by time.
	UtilizationOf(ctx context.Context, pools []ipam.Pool, since time.Time) (map[ipam.ID][]ipam.UsedAt, error)
	// DrainedPoolList returns up to limit pools at home in the store's region that are drained for deletion and hold only reservations at home.
	DrainedPoolList(ctx context.Context, limit int) ([]ipam.Pool, error)
	// PoolListOverlapping returns up to limit pools carved from the container that overlap the block.
	PoolListOverlapping(ctx context.Context, containerID ipam.ID, block netip.Prefix, limit int) ([]ipam.Pool, error)
}
