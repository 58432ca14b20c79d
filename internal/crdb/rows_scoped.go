package crdb

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// ScopedPool implements storage.Reader.
func (r reader) ScopedPool(ctx context.Context, class, project ipam.ID, scope string) (ipam.Pool, error) {
	return one(ctx, r, "scoped_pool_get", rows.Pools.Scan, notFound("The scope has no pool."), rows.ID(class), rows.ID(project), scope)
}

// ScopedPoolCount implements storage.Reader.
func (r reader) ScopedPoolCount(ctx context.Context, class, project ipam.ID) (int64, error) {
	missing := notFound("The IP class was not found.")
	if project.IsZero() {
		return one(ctx, r, "scoped_pool_count", scanCount, missing, rows.ID(class))
	}
	return one(ctx, r, "scoped_pool_count_in", scanCount, missing, rows.ID(class), rows.ID(project))
}

// ScopedPoolList implements storage.Reader.
func (r reader) ScopedPoolList(ctx context.Context, after ipam.ID, limit int) ([]storage.ScopedPool, error) {
	return list(ctx, r, "scoped_pool_list", rows.ScopedPools.Scan, r.region, rows.ID(after), limit)
}
