package crdb

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/ipam"
)

// GroupRead implements alloc.Tx.
func (t *tx) GroupRead(ctx context.Context, pool alloc.Container, reads space.Reads, q alloc.GroupQuery) (alloc.GroupFacts, error) {
	t.conn.lock(pool.ID)
	b := &pgx.Batch{}
	b.Queue(query.Get("pool_get_by_id"), uuid(pool.ID))
	n := queueFree(b, pool, reads)
	if len(q.Projects) > 0 {
		b.Queue(query.Get("quota_parts"), t.region, uuids(q.Projects), q.Shard)
	}
	if len(q.Consumers) > 0 {
		b.Queue(query.Get("grant_consumers"), uuid(pool.ID), consumers(q.Consumers...))
	}
	results := t.conn.SendBatch(ctx, b)
	var facts alloc.GroupFacts
	err := groupFacts(results, n, q, &facts)
	if errors.Is(err, errNoPool) {
		err = notFound("Pool %s was not found.", pool.Pool)()
	}
	return facts, errors.Join(err, results.Close())
}

var errNoPool = errors.New("no such pool")

// groupFacts takes the results in the order in which they were asked for.
func groupFacts(results pgx.BatchResults, n int, q alloc.GroupQuery, facts *alloc.GroupFacts) error {
	var pool *ipam.Pool
	if err := maybe(results, scanPool, &pool, true); err != nil {
		return err
	}
	if pool == nil {
		return errNoPool
	}
	facts.Pool = *pool
	var err error
	if facts.Free, err = takeFree(results, n); err != nil {
		return err
	}
	if len(q.Projects) > 0 {
		if facts.Quotas, err = rest(results, scanPart); err != nil {
			return err
		}
	}
	if len(q.Consumers) == 0 {
		return nil
	}
	granted, err := rest(results, scanText)
	facts.Granted = make(map[string]bool, len(q.Consumers))
	for _, g := range granted {
		if g != ipam.Everybody {
			facts.Granted[g] = true
			continue
		}
		for _, c := range q.Consumers {
			facts.Granted[c] = true
		}
	}
	return err
}

// rest reads all rows of the next result of a batch.
func rest[T any](results pgx.BatchResults, scan func(pgx.Row) (T, error)) ([]T, error) {
	rows, err := results.Query()
	if err != nil {
		return nil, err
	}
	return collect(rows, scan)
}
