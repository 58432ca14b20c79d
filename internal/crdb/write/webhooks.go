package write

import (
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// changeWebhooks changes a webhook's row before its deliveries, because this row is also the lock on the deliveries.
func (w *Statements) changeWebhooks(ch storage.WebhookChanges) {
	if h := ch.WebhookDelete; h != nil {
		w.hit("webhook_delete", 1, h.Region, h.ProjectID, h.Name, h.Revision)
		w.unchecked("delivery_delete_of", h.Region, h.ProjectID, h.UID)
	}
	if h := ch.WebhookInsert; h != nil {
		hitRow(w, "webhook_insert", rows.Webhooks, *h)
	}
	if u := ch.WebhookUpdate; u != nil {
		hitRow(w, "webhook_update", rows.Webhooks, u.Now, u.Now.Region, u.Now.ProjectID, u.Now.Name, u.Was)
	}
	if k := ch.WebhookKeep; k != nil {
		w.unchecked("webhook_keep", k.Region, k.Lease, k.IDs, k.Until)
	}
	key := func(d *ipam.Delivery) []any {
		return []any{d.Region, d.ProjectID, d.WebhookID, d.ID}
	}
	if d := ch.DeliveryDelete; d != nil {
		w.hit("delivery_delete", 1, key(d)...)
	}
	if d := ch.DeliveryUpdate; d != nil {
		hitRow(w, "delivery_update", rows.Deliveries, *d, key(d)...)
	}
	if d := ch.DeliveryInsert; d != nil {
		hitRow(w, "delivery_insert", rows.Deliveries, *d)
	}
}
