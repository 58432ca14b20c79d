package write

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/netip"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// queueDeletes queues all deletes. They run before updates and inserts, so that the same transaction can use the names and blocks that become free. A
// row is deleted before the rows to which it refers.
func (w *Statements) queueDeletes(ch storage.Changes) {
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
	w.freeBlocks("free_delete", ch.Free, func(f storage.FreeChange) []netip.Prefix { return f.Delete })
	w.accessDeletes(ch.AccessChanges)
	if q := ch.QuotaDelete; q != nil {
		w.quotaDelete(*q)
	}
	w.regionDeletes(ch.RegionChanges)
	if p := ch.PoolDelete; p != nil {
		w.unchecked("pool_class_delete", p.UID)
		w.unchecked("utilization_delete_of", p.Region, p.UID)
		w.hit("pool_delete", 1, p.UID, p.Revision)
	}
	w.classDelete(ch.ClassChanges)
	for _, s := range ch.SpaceDelete {
		w.hit("space_delete", 1, s.UID, s.Revision)
	}
	if p := ch.ProjectDelete; p != nil {
		for _, statement := range []string{"answer_delete", "consumer_delete_all", "realm_delete_all", "project_region_delete", "class_delete_all"} {
			w.unchecked(statement, p.UID)
		}
		w.hit("project_delete", 1, p.UID, p.Revision)
	}
}

// freeBlocks queues one statement for each region. The statement inserts or deletes free blocks. blocksOf returns the blocks of a change.
func (w *Statements) freeBlocks(name string, changes []storage.FreeChange, blocksOf func(storage.FreeChange) []netip.Prefix) {
	for region, list := range inRegions(changes, func(f storage.FreeChange) string { return f.Container.Region }) {
		var blocks []rows.FreeBlock
		for _, f := range list {
			for _, b := range blocksOf(f) {
				blocks = append(blocks, rows.FreeBlock{Container: f.Container.ID, Block: b})
			}
		}
		if len(blocks) > 0 {
			hitRows(w, name, rows.FreeBlocks, blocks, region)
		}
	}
}

func keysOf[V any](list []V, keyOf func(V) rows.HoldKey) []rows.HoldKey {
	keys := make([]rows.HoldKey, len(list))
	for i, v := range list {
		keys[i] = keyOf(v)
	}
	return keys
}

// holdDelete deletes rows in holds, the table for held blocks. For each row that has changed since it was read, it calls onMissing with the row's
// index. A row that is listed twice counts as changed the second time, because the statement deletes it only once.
func (w *Statements) holdDelete(region string, keys []rows.HoldKey, onMissing func(*storage.Conflict, int) error) {
	name, columns, err := rows.HoldKeys.Arrays("hold_delete", keys)
	w.err = errors.Join(w.err, err)
	args := append([]any{region}, columns...)
	if w.checked {
		w.hitChecked(name, len(keys), args...)
		return
	}
	w.queue(name, func(results pgx.BatchResults, c *storage.Conflict) error {
		touched := make(map[ipam.ID]bool, len(keys))
		var id ipam.ID
		err := lookup.ForEach(results, []any{&id}, func() { touched[id] = true })
		if err != nil {
			return err
		}
		for i, key := range keys {
			if !touched[key.ID] {
				err = errors.Join(err, onMissing(c, i))
			}
			touched[key.ID] = false
		}
		return err
	}, args...)
}

func byRegion(list []ipam.Allocation) iter.Seq2[string, []ipam.Allocation] {
	return inRegions(list, func(a ipam.Allocation) string { return a.Region })
}

func claimsByRegion(list []ipam.Claim) iter.Seq2[string, []ipam.Claim] {
	return inRegions(list, func(c ipam.Claim) string { return c.Region })
}

// inRegions groups rows by region. All transactions use the same region order. Usually all rows have the same region.
func inRegions[T any](list []T, regionOf func(T) string) iter.Seq2[string, []T] {
	return func(yield func(string, []T) bool) {
		if len(list) == 0 {
			return
		}
		if first := regionOf(list[0]); !slices.ContainsFunc(list, func(t T) bool { return regionOf(t) != first }) {
			yield(first, list)
			return
		}
		m := map[string][]T{}
		for _, t := range list {
			m[regionOf(t)] = append(m[regionOf(t)], t)
		}
		for _, region := range slices.Sorted(maps.Keys(m)) {
			if !yield(region, m[region]) {
				return
			}
		}
	}
}
