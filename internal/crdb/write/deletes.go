package write

import (
	"fmt"
	"iter"
	"maps"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// deletes queues all deletes. They run before updates and inserts, so that the same transaction can use the names and blocks that become free. A row
// is deleted before the rows to which it refers.
func (w *Statements) deletes(ch storage.Changes) {
	for region, list := range claimsByRegion(ch.ClaimDelete) {
		w.holdDelete(region, keysOf(list, func(c ipam.Claim) rows.HoldKey { return rows.HoldKey{ID: c.AllocationID, Revision: c.Revision} }),
			func(conflict *storage.Conflict, i int) error {
				conflict.ClaimRefs = append(conflict.ClaimRefs, claimRef(list[i]))
				return nil
			})
	}
	for region, list := range byRegion(ch.AllocationDelete) {
		w.holdDelete(region, keysOf(list, func(a ipam.Allocation) rows.HoldKey { return rows.HoldKey{ID: a.ID, Revision: a.Revision} }),
			func(_ *storage.Conflict, i int) error {
				return fmt.Errorf("allocation %s has changed: %w", list[i].ID, ErrStale)
			})
	}
	w.free("free_delete", ch.Free, func(f storage.FreeChange) []netip.Prefix { return f.Delete })
	w.accessDeletes(ch.AccessChanges)
	if q := ch.QuotaDelete; q != nil {
		w.quotaDelete(*q)
	}
	w.regionDeletes(ch.RegionChanges)
	if p := ch.PoolDelete; p != nil {
		w.any("pool_class_delete", rows.ID(p.UID))
		w.any("utilization_delete_of", p.Region, rows.ID(p.UID))
		w.hit("pool_delete", 1, rows.ID(p.UID), rows.ID(p.Revision))
	}
	w.classDelete(ch.ClassChanges)
	for _, s := range ch.SpaceDelete {
		w.hit("space_delete", 1, rows.ID(s.UID), rows.ID(s.Revision))
	}
	if p := ch.ProjectDelete; p != nil {
		w.any("answer_delete", rows.ID(p.UID))
		w.any("consumer_delete_all", rows.ID(p.UID))
		w.any("realm_delete_all", rows.ID(p.UID))
		w.any("project_region_delete", rows.ID(p.UID))
		w.any("class_delete_all", rows.ID(p.UID))
		w.hit("project_delete", 1, rows.ID(p.UID), rows.ID(p.Revision))
	}
}

// free queues one statement for each region. The statement inserts or deletes the free blocks that of selects.
func (w *Statements) free(name string, changes []storage.FreeChange, of func(storage.FreeChange) []netip.Prefix) {
	for region, list := range inRegions(changes, func(f storage.FreeChange) string { return f.Container.Region }) {
		var blocks []rows.FreeBlock
		for _, f := range list {
			for _, b := range of(f) {
				blocks = append(blocks, rows.FreeBlock{Container: f.Container.ID, Block: b})
			}
		}
		if len(blocks) > 0 {
			hitRows(w, name, rows.FreeBlocks, blocks, region)
		}
	}
}

func keysOf[V any](list []V, of func(V) rows.HoldKey) []rows.HoldKey {
	keys := make([]rows.HoldKey, len(list))
	for i, v := range list {
		keys[i] = of(v)
	}
	return keys
}

// holdDelete deletes rows in holds, the table of held blocks. For each row that has changed since it was read, it calls missing with the row's index.
func (w *Statements) holdDelete(region string, keys []rows.HoldKey, missing func(*storage.Conflict, int) error) {
	answered(w, "hold_delete", rows.HoldKeys, keys, region, func(id *ipam.ID) []any { return []any{(*[16]byte)(id)} },
		func(k rows.HoldKey) ipam.ID { return k.ID }, missing)
}

func byRegion(list []ipam.Allocation) iter.Seq2[string, []ipam.Allocation] {
	return inRegions(list, func(a ipam.Allocation) string { return a.Region })
}

func claimsByRegion(list []ipam.Claim) iter.Seq2[string, []ipam.Claim] {
	return inRegions(list, func(c ipam.Claim) string { return c.Region })
}

// inRegions groups rows by region. All transactions use the same order of regions. Usually all rows have the same region.
func inRegions[T any](list []T, of func(T) string) iter.Seq2[string, []T] {
	return func(yield func(string, []T) bool) {
		if len(list) == 0 {
			return
		}
		if first := of(list[0]); !slices.ContainsFunc(list, func(t T) bool { return of(t) != first }) {
			yield(first, list)
			return
		}
		m := map[string][]T{}
		for _, t := range list {
			m[of(t)] = append(m[of(t)], t)
		}
		for _, region := range slices.Sorted(maps.Keys(m)) {
			if !yield(region, m[region]) {
				return
			}
		}
	}
}
