package lookup

import (
	"context"
	"errors"
	"math/big"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// quotaIn returns a function that reads a quota with its usage.
func quotaIn(project storage.ProjectKey) pgx.RowToFunc[ipam.Quota] {
	return func(row pgx.CollectableRow) (ipam.Quota, error) {
		q, err := rows.Quotas.Scan(row)
		q.Project = project.Name
		return q, err
	}
}

// partIn returns a function that reads a quota with one shard in a region. The shard may not exist yet.
func partIn(region string, number int) pgx.RowToFunc[storage.QuotaPart] {
	return func(row pgx.CollectableRow) (storage.QuotaPart, error) {
		part, err := rows.QuotaParts.Scan(row)
		part.Shard.Region, part.Shard.Shard = region, number
		return part, err
	}
}

// QuotaGet implements storage.Reader.
func (r Reader) QuotaGet(ctx context.Context, project storage.ProjectKey, name string) (ipam.Quota, error) {
	return readOne(ctx, r, "quota_get", quotaIn(project), NotFound("Quota %s/%s was not found.", project.Name, name), project.ID, name)
}

// QuotaList implements storage.Reader.
func (r Reader) QuotaList(ctx context.Context, project storage.ProjectKey, after string, limit int) ([]ipam.Quota, error) {
	return List(ctx, r, "quota_list", quotaIn(project), project.ID, after, limit)
}

// QuotaParts implements storage.Reader.
func (r Reader) QuotaParts(ctx context.Context, projects []ipam.ID, shard int) ([]storage.QuotaPart, error) {
	return List(ctx, r, "quota_parts", partIn(r.region, shard), r.region, projects, shard)
}

// QuotaShards implements storage.Reader.
func (r Reader) QuotaShards(ctx context.Context, quotas []ipam.ID) ([]ipam.QuotaShard, error) {
	return List(ctx, r, "quota_shards", rows.Shards.Scan, quotas)
}

// QuotaShardsAlone does the same as QuotaShards, but also locks the shards.
func (r Reader) QuotaShardsAlone(ctx context.Context, quotas []ipam.ID) ([]ipam.QuotaShard, error) {
	return List(ctx, r, "quota_shards_alone", rows.Shards.Scan, quotas)
}

// UsageCount implements storage.Reader. The database counts blocks by size, and Go computes the number of addresses.
func (r Reader) UsageCount(ctx context.Context, project storage.ProjectKey, scope ipam.QuotaScope) (ipam.Usage, error) {
	var used ipam.Usage
	err := r.run(ctx, "usage_count", func(db Querier) error {
		used = ipam.Usage{Addresses: new(big.Int)}
		width := 0 // address size in bytes; 0: both families
		if scope.Family != "" {
			width = scope.Family.Bits() / 8
		}
		pool, class := scope.Pool, scope.Class
		b := &pgx.Batch{}
		for _, statement := range []string{"usage_claims", "usage_retained", "usage_pools"} {
			b.Queue(query.Get(statement), project.ID, pool.Project, pool.Name, width, class.Project, class.Name)
		}
		results := db.SendBatch(ctx, b)
		claims, err := countBlocks(results, used.Addresses)
		if err == nil {
			used.Claims = claims
			_, err = countBlocks(results, used.Addresses)
		}
		if err == nil {
			err = results.QueryRow().Scan(&used.Pools)
		}
		return errors.Join(err, results.Close())
	})
	if used.Addresses != nil && used.Addresses.Sign() == 0 {
		used.Addresses = new(big.Int)
	}
	return used, err
}

// countBlocks reads rows with a prefix length, the block count and the IPv4 block count. It adds the number of addresses to sum.
func countBlocks(results pgx.BatchResults, sum *big.Int) (blocks int64, err error) {
	var length int
	var all, v4 int64
	add := func(n int64, f ipam.Family) {
		if n > 0 {
			sum.Add(sum, new(big.Int).Lsh(big.NewInt(n), uint(f.Bits()-length)))
		}
	}
	err = ForEach(results, []any{&length, &all, &v4}, func() {
		blocks += all
		add(v4, ipam.IPv4)
		add(all-v4, ipam.IPv6)
	})
	return blocks, err
}
