package crdb

import (
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/rows"
)

// updates replace rows at the revision that was read.
func (w *writer) updates(ch storage.Changes) {
	if u := ch.ProjectUpdate; u != nil {
		hitRow(w, "project_update", rows.Projects, u.Now, rows.ID(u.Now.UID), rows.ID(u.Was))
	}
	if u := ch.SpaceUpdate; u != nil {
		hitRow(w, "space_update", rows.Spaces, u.Now, rows.ID(u.Now.UID), rows.ID(u.Was))
	}
	if u := ch.PoolUpdate; u != nil {
		p := u.Now
		hitRow(w, "pool_update", rows.Pools, p, rows.ID(p.UID), rows.ID(u.Was))
		w.any("pool_class_delete", rows.ID(p.UID))
		w.backing(p)
	}
	for _, u := range ch.AllocationUpdate {
		a := u.Now
		hitRow(w, "allocation_update", rows.Allocations, a, a.Region, rows.ID(a.ProjectID), rows.ID(a.ContainerID), rows.Base(a.Block), rows.ID(a.ID), string(u.Was))
	}
	if u := ch.ClaimUpdate; u != nil {
		c := u.Now
		hitRow(w, "claim_update", rows.Claims, c, c.Region, rows.ID(c.ProjectID), c.Name, rows.ID(u.Was))
	}
	w.regionUpdates(ch.RegionChanges)
	w.classUpdates(ch.ClassChanges)
	w.accessUpdates(ch.AccessChanges)
	w.quotaUpdates(ch.QuotaChanges)
}
