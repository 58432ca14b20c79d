package write

import (
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/rows"
)

// queueUpdates queues all updates. Each one fails if the row does not have the revision that was read.
func (w *Statements) queueUpdates(ch storage.Changes) {
	if u := ch.ProjectUpdate; u != nil {
		hitRow(w, "project_update", rows.Projects, u.Now, u.Now.UID, u.Was)
	}
	if u := ch.SpaceUpdate; u != nil {
		hitRow(w, "space_update", rows.Spaces, u.Now, u.Now.UID, u.Was)
	}
	if u := ch.PoolUpdate; u != nil {
		p := u.Now
		hitRow(w, "pool_update", rows.Pools, p, p.UID, u.Was)
		w.unchecked("pool_class_delete", p.UID)
		w.insertPoolClasses(p)
	}
	for _, r := range ch.ClaimRelease {
		w.allocationUpdate(storage.AllocationUpdate{Was: r.Claim.Revision, Now: r.Now})
		w.onStale(func(c *storage.Conflict) { c.ClaimRefs = append(c.ClaimRefs, claimRef(r.Claim)) })
	}
	if u := ch.AllocationUpdate; u != nil {
		w.allocationUpdate(*u)
	}
	if u := ch.ClaimUpdate; u != nil {
		w.claimUpdate(*u)
	}
	w.regionUpdates(ch.RegionChanges)
	w.classUpdates(ch.ClassChanges)
	w.accessUpdates(ch.AccessChanges)
	w.quotaUpdates(ch.QuotaChanges)
}

func (w *Statements) allocationUpdate(u storage.AllocationUpdate) {
	hitRow(w, "hold_update", rows.Allocations, u.Now, u.Now.Region, u.Now.ID, u.Was)
}

func (w *Statements) claimUpdate(u storage.ClaimUpdate) {
	hitRow(w, "hold_update", rows.Claims, u.Now, u.Now.Region, u.Now.AllocationID, u.Was)
}
