package storage

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// WebhookReader reads webhooks and their deliveries.
type WebhookReader interface {
	WebhookGet(ctx context.Context, project ProjectKey, name string) (ipam.Webhook, error)
	// WebhookList returns a project's webhooks in all regions, by name after a name.
	WebhookList(ctx context.Context, project ProjectKey, after string, limit int) ([]ipam.Webhook, error)
	// WebhooksDue returns webhooks in the server's region that are due, the longest overdue first. It leaves out project names.
	WebhooksDue(ctx context.Context, now time.Time, limit int) ([]ipam.Webhook, error)

	// DeliveryOldest returns the start of the oldest delivery in the server's region that began before a time, or the zero time if there is none.
	DeliveryOldest(ctx context.Context, before time.Time) (time.Time, error)
	DeliveryGet(ctx context.Context, w ipam.Webhook, id ipam.ID) (ipam.Delivery, error)
	// DeliveryNext returns the next delivery for a webhook: a repeat that a client requested, or else the delivery in progress.
	DeliveryNext(ctx context.Context, w ipam.Webhook) (d ipam.Delivery, found bool, err error)
	// DeliveryList returns a webhook's failed deliveries (dead letters) after an id, the oldest first.
	DeliveryList(ctx context.Context, w ipam.Webhook, after ipam.ID, limit int) ([]ipam.Delivery, error)
}

// WebhookChanges contains the changes to webhooks. Deleting a webhook deletes its deliveries.
type WebhookChanges struct {
	WebhookInsert *ipam.Webhook
	WebhookUpdate *WebhookUpdate
	WebhookDelete *ipam.Webhook // at the revision that was read

	WebhookKeep *Keeping

	// Deliveries of one webhook; the webhook's own row must change in the same transaction.
	DeliveryInsert *ipam.Delivery
	DeliveryUpdate *ipam.Delivery
	DeliveryDelete *ipam.Delivery
}

// WebhookUpdate replaces the mutable fields in a webhook that still has epoch Was.
type WebhookUpdate struct {
	Was ipam.ID
	Now ipam.Webhook
}

// Keeping extends a server's lease on its own webhooks; it skips the others.
type Keeping struct {
	Region string
	Lease  ipam.ID
	IDs    []ipam.ID
	Until  time.Time
}
