package crdb

import (
	"iter"
	"maps"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// deletes come before updates and inserts: what is given up can be taken in the same transaction. Rows that refer to others
// go before those.
func (w *writer) deletes(ch storage.Changes) {
	for region, list := range claimsByRegion(ch.ClaimDelete) {
		n := len(list)
		projects, names, revisions, refs := make([][16]byte, n), make([]string, n), make([][16]byte, n), make([]storage.NameRef, n)
		for i, c := range list {
			projects[i], names[i], revisions[i] = uuid(c.ProjectID), c.Name, uuid(c.Revision)
			refs[i] = storage.NameRef{ProjectID: c.ProjectID, Name: c.Name}
		}
		w.named("claim_delete", refs, claimConflicts, region, projects, names, revisions)
	}
	for region, list := range byRegion(ch.AllocationDelete) {
		n := len(list)
		projects, containers, bases, ids := make([][16]byte, n), make([][16]byte, n), make([][]byte, n), make([][16]byte, n)
		for i, a := range list {
			projects[i], containers[i], bases[i], ids[i] = uuid(a.ProjectID), uuid(a.ContainerID), base(a.Block), uuid(a.ID)
		}
		w.hitEach("allocation_delete", n, 1, region, projects, containers, bases, ids)
	}
	for _, f := range ch.Free {
		if len(f.Delete) > 0 {
			sizes, bases := freeArrays(f.Delete)
			w.hitEach("free_delete", len(f.Delete), 2, f.Container.Region, uuid(f.Container.ID), sizes, bases)
		}
	}
	w.accessDeletes(ch.AccessChanges)
	if q := ch.QuotaDelete; q != nil {
		w.quotaDelete(*q)
	}
	w.regionDeletes(ch.RegionChanges)
	if p := ch.PoolDelete; p != nil {
		w.any("pool_class_delete", uuid(p.UID))
		w.hit("pool_delete", 1, uuid(p.UID), uuid(p.Revision))
	}
	w.classDelete(ch.ClassChanges)
	for _, s := range ch.SpaceDelete {
		w.hit("space_delete", 1, uuid(s.UID), uuid(s.Revision))
	}
	if p := ch.ProjectDelete; p != nil {
		w.any("answer_delete", uuid(p.UID))
		w.any("project_region_delete", uuid(p.UID))
		w.any("class_delete_all", uuid(p.UID))
		w.hit("project_delete", 1, uuid(p.UID), uuid(p.Revision))
	}
}

func byRegion(list []ipam.Allocation) iter.Seq2[string, []ipam.Allocation] {
	return inRegions(list, func(a ipam.Allocation) string { return a.Region })
}

func claimsByRegion(list []ipam.Claim) iter.Seq2[string, []ipam.Claim] {
	return inRegions(list, func(c ipam.Claim) string { return c.Region })
}

// inRegions groups rows by their region, in one order of regions for all transactions. Nearly always there is one.
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
