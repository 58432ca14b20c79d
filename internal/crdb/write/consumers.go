package write

import (
	"cmp"
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// changeConsumers changes consumers in UID order, so that transactions on the same consumers do not deadlock.
func (w *Statements) changeConsumers(ch storage.ConsumerChanges) {
	for _, a := range ch.AttachmentDelete {
		w.hit("attachment_delete", 1, a.Region, a.ProjectID, a.ClaimID, a.Consumer.Realm, a.Consumer.UID)
	}
	updates := slices.SortedFunc(slices.Values(ch.ConsumerUpdate), func(a, b storage.ConsumerUpdate) int { return byRef(a.Now, b.Now) })
	for _, u := range updates {
		c := u.Now
		hitRow(w, "consumer_update", rows.Consumers, c, c.Region, c.ProjectID, c.Realm, c.Name, u.Was)
	}
	for _, r := range ch.ConsumerRenew {
		var ttl *int64
		if r.TTL != nil {
			ttl = new(int64(*r.TTL / time.Second))
		}
		w.hit("consumer_renew", len(r.UIDs), r.Region, r.ProjectID, r.Realm, r.UIDs, r.Revision, r.At, ttl)
	}
	inserts := slices.SortedFunc(slices.Values(ch.ConsumerInsert), byRef)
	for region, list := range inRegions(inserts, func(c ipam.Consumer) string { return c.Region }) {
		hitRows(w, "consumer_insert", rows.Consumers, list, region)
	}
	for region, list := range inRegions(ch.AttachmentInsert, func(a ipam.Attachment) string { return a.Region }) {
		hitRows(w, "attachment_insert", rows.Attachments, list, region)
	}
	for _, f := range ch.RealmForget {
		w.unchecked("realm_forget", f.Region, f.ProjectID, f.Since)
	}
	for _, p := range ch.RealmPut {
		w.hit("realm_put", 1, p.Region, p.ProjectID, p.Name, rows.TimeOrNull(p.Now.HeldSince), rows.TimeOrNull(p.Now.ConfirmedUntil))
	}
}

func byRef(a, b ipam.Consumer) int {
	return cmp.Or(cmp.Compare(a.Realm, b.Realm), cmp.Compare(a.Name, b.Name))
}
