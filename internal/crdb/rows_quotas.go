package crdb

import (
	"context"
	"errors"
	"math/big"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/ipam"
)

// quotaRow is where a row of quotas is read into: the quota, and what has another form there.
type quotaRow struct {
	quota  ipam.Quota
	number int16
	limit  pgtype.Numeric
}

func (q *quotaRow) columns() []any {
	v := &q.quota
	return []any{(*[16]byte)(&v.UID), (*[16]byte)(&v.ProjectID), &v.Name, &v.Spec.Scope.Pool.Project, &v.Spec.Scope.Pool.Name,
		&v.Spec.Scope.Class.Project, &v.Spec.Scope.Class.Name, &q.number, &q.limit, &v.Spec.Limits.Claims, &v.Spec.Limits.Pools, &v.Overdrawn, &v.Spec.Description,
		&v.Generation, (*[16]byte)(&v.Revision), &v.CreatedAt, &v.UpdatedAt, &v.CreatedBy, (*string)(&v.Owner)}
}

func (q *quotaRow) done() (ipam.Quota, error) {
	normalize(&q.quota.Metadata)
	switch q.number {
	case 4:
		q.quota.Spec.Scope.Family = ipam.IPv4
	case 6:
		q.quota.Spec.Scope.Family = ipam.IPv6
	}
	limit, err := whole(q.limit)
	if limit != nil && limit.Sign() == 0 {
		limit = new(big.Int)
	}
	q.quota.Spec.Limits.Addresses = limit
	return q.quota, err
}

// quotaIn reads a quota with what is used.
func quotaIn(project storage.ProjectKey) func(pgx.Row) (ipam.Quota, error) {
	return func(row pgx.Row) (ipam.Quota, error) {
		var r quotaRow
		var used pgtype.Numeric
		if err := row.Scan(append(r.columns(), &used, &r.quota.Used.Claims, &r.quota.Used.Pools)...); err != nil {
			return ipam.Quota{}, err
		}
		if err := wholes([]pgtype.Numeric{used}, &r.quota.Used.Addresses); err != nil {
			return ipam.Quota{}, err
		}
		r.quota.Project = project.Name
		return r.done()
	}
}

// shardRow is where a row of quota_shards is read into.
type shardRow struct {
	shard ipam.QuotaShard
	sums  [2]pgtype.Numeric // used, spare
}

func (s *shardRow) columns() []any {
	v := &s.shard
	return []any{(*[16]byte)(&v.QuotaID), &v.Shard, &s.sums[0], &v.Used.Claims, &v.Used.Pools, &s.sums[1], &v.Spare.Claims, &v.Spare.Pools}
}

func (s *shardRow) done() (ipam.QuotaShard, error) {
	err := wholes(s.sums[:], &s.shard.Used.Addresses, &s.shard.Spare.Addresses)
	return s.shard, err
}

func scanShard(row pgx.Row) (ipam.QuotaShard, error) {
	var s shardRow
	if err := row.Scan(append([]any{&s.shard.Region}, s.columns()...)...); err != nil {
		return s.shard, err
	}
	return s.done()
}

// partIn reads a quota with a shard of a region, which it may not have there yet.
func partIn(region string, number int) func(pgx.Row) (storage.QuotaPart, error) {
	return func(row pgx.Row) (storage.QuotaPart, error) {
		var q quotaRow
		var s shardRow
		if err := row.Scan(append(q.columns(), s.columns()...)...); err != nil {
			return storage.QuotaPart{}, err
		}
		quota, err := q.done()
		shard, shardErr := s.done()
		part := storage.QuotaPart{Quota: quota, Shard: shard, Missing: shard.Shard < 0}
		part.Shard.Region, part.Shard.Shard = region, number
		return part, errors.Join(err, shardErr)
	}
}

// QuotaGet implements storage.Reader.
func (r reader) QuotaGet(ctx context.Context, project storage.ProjectKey, name string) (ipam.Quota, error) {
	return one(ctx, r, "quota_get", quotaIn(project), notFound("Quota %s/%s was not found.", project.Name, name), uuid(project.ID), name)
}

// QuotaList implements storage.Reader.
func (r reader) QuotaList(ctx context.Context, project storage.ProjectKey, after string, limit int) ([]ipam.Quota, error) {
	return list(ctx, r, "quota_list", quotaIn(project), uuid(project.ID), after, limit)
}

// QuotaParts implements storage.Reader.
func (r reader) QuotaParts(ctx context.Context, projects []ipam.ID, shard int) ([]storage.QuotaPart, error) {
	return list(ctx, r, "quota_parts", partIn(r.region, shard), r.region, uuids(projects), shard)
}

// QuotaShards implements storage.Reader.
func (r reader) QuotaShards(ctx context.Context, quotas []ipam.ID) ([]ipam.QuotaShard, error) {
	return list(ctx, r, "quota_shards", scanShard, uuids(quotas))
}

// UsageCount implements storage.Reader. The database counts blocks of each size; what they come to is Go's arithmetic.
func (r reader) UsageCount(ctx context.Context, project storage.ProjectKey, scope ipam.QuotaScope) (ipam.Usage, error) {
	var used ipam.Usage
	err := r.run(ctx, "usage_count", func(db querier) error {
		used = ipam.Usage{Addresses: new(big.Int)}
		width := 0 // in bytes; 0: both
		if scope.Family != "" {
			width = scope.Family.Bits() / 8
		}
		pool, class := scope.Pool, scope.Class
		b := &pgx.Batch{}
		b.Queue(query.Get("usage_claims"), uuid(project.ID), pool.Project, pool.Name, width, class.Project, class.Name)
		b.Queue(query.Get("usage_retained"), uuid(project.ID), pool.Project, pool.Name, width, class.Project, class.Name)
		b.Queue(query.Get("usage_pools"), uuid(project.ID), pool.Project, pool.Name, width, class.Project, class.Name)
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

// countBlocks reads (prefix length, blocks, those of IPv4) and adds the blocks' addresses to a sum.
func countBlocks(results pgx.BatchResults, sum *big.Int) (blocks int64, err error) {
	rows, err := results.Query()
	if err != nil {
		return 0, err
	}
	var length int
	var all, v4 int64
	add := func(n int64, f ipam.Family) {
		if n > 0 {
			sum.Add(sum, new(big.Int).Lsh(big.NewInt(n), uint(f.Bits()-length)))
		}
	}
	_, err = pgx.ForEachRow(rows, []any{&length, &all, &v4}, func() error {
		blocks += all
		add(v4, ipam.IPv4)
		add(all-v4, ipam.IPv6)
		return nil
	})
	return blocks, err
}
