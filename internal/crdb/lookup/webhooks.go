package lookup

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

func webhookIn(project storage.ProjectKey) pgx.RowToFunc[ipam.Webhook] {
	return func(row pgx.CollectableRow) (ipam.Webhook, error) {
		w, err := rows.Webhooks.Scan(row)
		w.Project = project.Name
		return w, err
	}
}

// WebhookGet implements storage.Reader.
func (r Reader) WebhookGet(ctx context.Context, project storage.ProjectKey, name string) (ipam.Webhook, error) {
	return readOne(ctx, r, "webhook_get", webhookIn(project), NotFound("Webhook %s/%s was not found.", project.Name, name),
		r.regions.Everywhere(), project.ID, name)
}

// WebhookList implements storage.Reader.
func (r Reader) WebhookList(ctx context.Context, project storage.ProjectKey, after string, limit int) ([]ipam.Webhook, error) {
	return listEverywhere(ctx, r, "webhook_list", webhookIn(project), r.regions.Everywhere(), byName, limit, project.ID, after, limit)
}

// WebhooksDue implements storage.Reader.
func (r Reader) WebhooksDue(ctx context.Context, now time.Time, limit int) ([]ipam.Webhook, error) {
	return List(ctx, r, "webhook_due", rows.Webhooks.Scan, r.region, now, limit)
}

// DeliveryOldest implements storage.Reader.
func (r Reader) DeliveryOldest(ctx context.Context, before time.Time) (time.Time, error) {
	return firstOrZero(ctx, r, "delivery_oldest", pgx.RowTo[time.Time], r.region, before)
}

// DeliveryGet implements storage.Reader.
func (r Reader) DeliveryGet(ctx context.Context, w ipam.Webhook, id ipam.ID) (ipam.Delivery, error) {
	return readOne(ctx, r, "delivery_get", rows.Deliveries.Scan, NotFound("Delivery %s of webhook %s/%s was not found.", id, w.Project, w.Name),
		w.Region, w.ProjectID, w.UID, id)
}

// DeliveryNext implements storage.Reader.
func (r Reader) DeliveryNext(ctx context.Context, w ipam.Webhook) (d ipam.Delivery, found bool, err error) {
	return First(ctx, r, "delivery_next", rows.Deliveries.Scan, w.Region, w.ProjectID, w.UID)
}

// DeliveryList implements storage.Reader.
func (r Reader) DeliveryList(ctx context.Context, w ipam.Webhook, after ipam.ID, limit int) ([]ipam.Delivery, error) {
	return List(ctx, r, "delivery_list", rows.Deliveries.Scan, w.Region, w.ProjectID, w.UID, after, limit)
}
