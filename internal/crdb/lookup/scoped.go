package lookup

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// ScopedPool implements storage.Reader.
func (r Reader) ScopedPool(ctx context.Context, class, project ipam.ID, scope string) (ipam.Pool, error) {
	return one(ctx, r, "scoped_pool_get", rows.Pools.Scan, NotFound("The scope has no pool."), rows.ID(class), rows.ID(project), scope)
}

// ScopedPoolsOf implements storage.Reader.
func (r Reader) ScopedPoolsOf(ctx context.Context, class, project ipam.ID, after string, limit int) ([]ipam.Pool, error) {
	return List(ctx, r, "scoped_pools_of", rows.Pools.Scan, rows.ID(class), rows.ID(project), after, limit)
}

// ScopedPoolCount implements storage.Reader.
func (r Reader) ScopedPoolCount(ctx context.Context, class, project ipam.ID) (int64, error) {
	missing := NotFound("The IP class was not found.")
	if project.IsZero() {
		return one(ctx, r, "scoped_pool_count", scanCount, missing, rows.ID(class))
	}
	return one(ctx, r, "scoped_pool_count_in", scanCount, missing, rows.ID(class), rows.ID(project))
}

// ScopedPoolList implements storage.Reader.
func (r Reader) ScopedPoolList(ctx context.Context, after ipam.ID, limit int) ([]storage.ScopedPool, error) {
	return List(ctx, r, "scoped_pool_list", rows.ScopedPools.Scan, r.region, rows.ID(after), limit)
}
