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
	// PoolListRoots is PoolList of pools that were carved from a space.
	PoolListRoots(ctx context.Context, project ProjectKey, after string, limit int) ([]ipam.Pool, error)
	// PoolListByLabels answers up to limit pools that carry all the labels, in order of name, after a name.
	PoolListByLabels(ctx context.Context, project ProjectKey, labels map[string]string, after string, limit int) ([]ipam.Pool, error)
	// UtilizationOf answers what was recorded of how much of some pools was used, each in order of time, since a time or longer.
	UtilizationOf(ctx context.Context, pools []ipam.Pool, since time.Time) (map[ipam.ID][]ipam.UsedAt, error)
	// DrainedPoolList answers up to limit pools at home in the store's region that are drained to be deleted, and in which nothing but
	// reservations is held at home.
	DrainedPoolList(ctx context.Context, limit int) ([]ipam.Pool, error)
	// PoolListOverlapping answers up to limit pools carved from the container that overlap the block.
	PoolListOverlapping(ctx context.Context, containerID ipam.ID, block netip.Prefix, limit int) ([]ipam.Pool, error)
}
