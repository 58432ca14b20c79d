package lookup

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// ScopedPool implements storage.Reader.
func (r Reader) ScopedPool(ctx context.Context, class, project ipam.ID, scope string) (ipam.Pool, error) {
	return readOne(ctx, r, "scoped_pool_get", rows.Pools.Scan, NotFound("The scope has no pool."), class, project, scope)
}

// ScopedPoolsOf implements storage.Reader.
func (r Reader) ScopedPoolsOf(ctx context.Context, class, project ipam.ID, after string, limit int) ([]ipam.Pool, error) {
	return List(ctx, r, "scoped_pools_of", rows.Pools.Scan, class, project, after, limit)
}

// ScopedPoolCount implements storage.Reader.
func (r Reader) ScopedPoolCount(ctx context.Context, class, project ipam.ID) (int64, error) {
	if project.IsZero() {
		return exactlyOne(ctx, r, "scoped_pool_count", pgx.RowTo[int64], class)
	}
	return exactlyOne(ctx, r, "scoped_pool_count_in", pgx.RowTo[int64], class, project)
}

// ScopedPoolList implements storage.Reader.
func (r Reader) ScopedPoolList(ctx context.Context, after ipam.ID, limit int) ([]storage.ScopedPool, error) {
	return List(ctx, r, "scoped_pool_list", rows.ScopedPools.Scan, r.region, after, limit)
}
