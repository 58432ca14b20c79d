package crdb

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/ipam"
)

// GroupRead implements storage.Tx.
func (t *tx) GroupRead(ctx context.Context, pool storage.Container, reads freespace.Reads, q storage.GroupQuery) (facts storage.GroupFacts, err error) {
	t.conn.lock(pool.Lock())
	asked, learns, projects := reads, false, []ipam.ID(nil)
	if q.Remember {
		if reads, learns = t.fill.extendReads(pool, reads); learns {
			projects = t.fill.projectsToRead(q)
		}
	}
	stock, err := t.stock(ctx, pool)
	if err != nil {
		return facts, err
	}
	facts, err = lookup.Group(ctx, t.conn, t.store.region, pool, reads, stock, q, projects, t.fences)
	if err == nil && facts.Pool.Revision != q.Pool.Revision {
		facts, err = t.refreshPool(ctx, pool, q, facts)
	}
	if err == nil && learns {
		t.fill.addRead(pool, reads, q, facts, t.fences[lookup.FenceKeyOf(pool)])
		facts.Free = asked.Requested(facts.Free) // without the extra blocks, which are only for the cache: this group may be about to release such a block
	}
	return facts, err
}

// refreshPool completes the facts about a pool whose revision differs from the cached revision.
func (t *tx) refreshPool(ctx context.Context, pool storage.Container, q storage.GroupQuery, facts storage.GroupFacts) (_ storage.GroupFacts, err error) {
	if facts.Pool, err = t.PoolGetByID(ctx, pool.ID); err != nil {
		return facts, err
	}
	facts.Pool.UsedIn = q.Pool.UsedIn
	if facts.Pool.MultiRegion() { // the epochs (versions) that were read above may be older than the pool's share in this region
		record, there, err := t.StockEpoch(ctx, pool.ID, pool.Region)
		facts.Fenced = record != there
		return facts, err
	}
	facts.Fenced = pool.Away // the pool has no share in that region any more
	return facts, nil
}
