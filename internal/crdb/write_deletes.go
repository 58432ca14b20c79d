package crdb

import (
	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/ipam"
)

// deletes come before updates and inserts: what is given up can be taken in the same transaction. Rows that refer to others
// go before those.
func (w *writer) deletes(ch alloc.Changes) {
	if n := len(ch.ClaimDelete); n > 0 {
		projects, names, revisions, refs := make([][16]byte, n), make([]string, n), make([][16]byte, n), make([]alloc.NameRef, n)
		for i, c := range ch.ClaimDelete {
			projects[i], names[i], revisions[i] = uuid(c.ProjectID), c.Name, uuid(c.Revision)
			refs[i] = alloc.NameRef{ProjectID: c.ProjectID, Name: c.Name}
		}
		w.named("claim_delete", refs, claimConflicts, w.region, projects, names, revisions)
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
	if p := ch.PoolDelete; p != nil {
		w.any("pool_class_delete", uuid(p.UID))
		w.hit("pool_delete", 1, uuid(p.UID), uuid(p.Revision))
	}
	w.classDelete(ch.ClassChanges)
	for _, s := range ch.SpaceDelete {
		w.hit("space_delete", 1, uuid(s.UID), uuid(s.Revision))
	}
	if p := ch.ProjectDelete; p != nil {
		w.any("answer_delete", w.region, uuid(p.UID))
		w.any("class_delete_all", uuid(p.UID))
		w.hit("project_delete", 1, uuid(p.UID), uuid(p.Revision))
	}
}

func byRegion(list []ipam.Allocation) map[string][]ipam.Allocation {
	m := map[string][]ipam.Allocation{}
	for _, a := range list {
		m[a.Region] = append(m[a.Region], a)
	}
	return m
}
