package crdb

import (
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// updates replace rows at the revision that was read.
func (w *writer) updates(ch storage.Changes) {
	if u := ch.ProjectUpdate; u != nil {
		p := u.Now
		w.hit("project_update", 1, uuid(p.UID), uuid(u.Was), p.Spec.DisplayName, p.Spec.Description, w.json(p.Labels), w.json(p.Annotations),
			p.Generation, uuid(p.Revision), p.UpdatedAt)
	}
	if u := ch.SpaceUpdate; u != nil {
		s := u.Now
		w.hit("space_update", 1, uuid(s.UID), uuid(u.Was), s.Spec.Description, w.json(s.Labels), w.json(s.Annotations),
			s.Generation, uuid(s.Revision), s.UpdatedAt)
	}
	if u := ch.PoolUpdate; u != nil {
		p, a := u.Now, u.Now.Spec.Allocation
		w.hit("pool_update", 1, uuid(p.UID), uuid(u.Was), string(p.Spec.Visibility), string(a.Strategy),
			smallPtr(a.MinPrefixLength), smallPtr(a.MaxPrefixLength), smallPtr(a.DefaultPrefixLength), w.reservations(p), p.Spec.Description,
			w.json(p.Labels), w.json(p.Annotations), p.Generation, uuid(p.Revision), p.UpdatedAt, w.classes(p), secondsPtr(p.Spec.ReuseAfter), w.regions(p))
		w.any("pool_class_delete", uuid(p.UID))
		w.backing(p)
	}
	for _, u := range ch.AllocationUpdate {
		a := u.Now
		w.hit("allocation_update", 1, a.Region, uuid(a.ProjectID), uuid(a.ContainerID), base(a.Block), uuid(a.ID), string(u.Was),
			string(a.Phase), a.Holder.Project, a.Holder.Name, string(a.ReclaimPolicy), w.optionalJSON(a.OwnerRef), a.Since, uuid(a.Revision), a.UpdatedAt,
			idPtr(a.Class.ID), a.Class.Ref.Project, a.Class.Ref.Name, timePtr(a.CoolUntil))
	}
	if u := ch.ClaimUpdate; u != nil {
		c := u.Now
		w.hit("claim_update", 1, c.Region, uuid(c.ProjectID), c.Name, uuid(u.Was), w.json(storedSpec(c)), w.json(c.Labels), w.json(c.Annotations),
			c.Generation, uuid(c.Revision), c.UpdatedAt, c.Spec.ReclaimPolicy != "")
	}
	w.regionUpdates(ch.RegionChanges)
	w.classUpdates(ch.ClassChanges)
	w.accessUpdates(ch.AccessChanges)
	w.quotaUpdates(ch.QuotaChanges)
}

func (w *writer) regions(p ipam.Pool) string {
	if len(p.Spec.Regions) == 0 {
		return "[]"
	}
	return w.json(p.Spec.Regions)
}

func (w *writer) reservations(p ipam.Pool) string {
	if len(p.Spec.Reservations) == 0 {
		return "[]"
	}
	return w.json(p.Spec.Reservations)
}
