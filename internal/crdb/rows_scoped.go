package crdb

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// ScopedPool implements storage.Reader.
func (r reader) ScopedPool(ctx context.Context, class, project ipam.ID, scope string) (ipam.Pool, error) {
	return one(ctx, r, "scoped_pool_get", scanPool, notFound("The scope has no pool."), uuid(class), uuid(project), scope)
}

// ScopedPoolCount implements storage.Reader.
func (r reader) ScopedPoolCount(ctx context.Context, class, project ipam.ID) (int64, error) {
	missing := notFound("The IP class was not found.")
	if project.IsZero() {
		return one(ctx, r, "scoped_pool_count", scanCount, missing, uuid(class))
	}
	return one(ctx, r, "scoped_pool_count_in", scanCount, missing, uuid(class), uuid(project))
}

// ScopedPoolList implements storage.Reader.
func (r reader) ScopedPoolList(ctx context.Context, after ipam.ID, limit int) ([]storage.ScopedPool, error) {
	return list(ctx, r, "scoped_pool_list", func(row pgx.Row) (storage.ScopedPool, error) {
		var s storage.ScopedPool
		var class ipam.ClassSpec
		var err error
		s.Pool, err = scanPoolAnd(row, &class, &s.Held)
		s.TTL = class.EmptyPoolTTL
		return s, err
	}, r.region, uuid(after), limit)
}
