package storage

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// WebhookReader reads webhooks and their deliveries.
type WebhookReader interface {
	WebhookGet(ctx context.Context, project ProjectKey, name string) (ipam.Webhook, error)
	// WebhookList returns a project's webhooks in all regions, in name order, after a name.
	WebhookList(ctx context.Context, project ProjectKey, after string, limit int) ([]ipam.Webhook, error)
	// WebhooksDue returns the webhooks in the server's region that are due, the longest overdue first. The webhooks have no project names.
	WebhooksDue(ctx context.Context, now time.Time, limit int) ([]ipam.Webhook, error)

	// DeliveryOldest returns the start of the oldest delivery in the server's region that began before a time. If there is none, it returns the zero
	// time.
	DeliveryOldest(ctx context.Context, before time.Time) (time.Time, error)
	DeliveryGet(ctx context.Context, w ipam.Webhook, id ipam.ID) (ipam.Delivery, error)
	// DeliveryNext returns the next delivery for a webhook. A repeat that a client requested comes before the delivery in progress.
	DeliveryNext(ctx context.Context, w ipam.Webhook) (d ipam.Delivery, found bool, err error)
	// DeliveryList returns a webhook's failed deliveries (dead letters) after an id, the oldest first.
	DeliveryList(ctx context.Context, w ipam.Webhook, after ipam.ID, limit int) ([]ipam.Delivery, error)
}

// WebhookChanges contains the changes to webhooks. WebhookDelete also deletes the webhook's deliveries.
type WebhookChanges struct {
	WebhookInsert *ipam.Webhook
	WebhookUpdate *WebhookUpdate
	WebhookDelete *ipam.Webhook // only at the revision that was read

	WebhookKeep *Keeping

	// These are one webhook's deliveries. The webhook's own row must change in the same transaction.
	DeliveryInsert *ipam.Delivery
	DeliveryUpdate *ipam.Delivery
	DeliveryDelete *ipam.Delivery
}

// WebhookUpdate replaces the mutable fields in a webhook that still has the epoch (version) Was.
type WebhookUpdate struct {
	Was ipam.ID
	Now ipam.Webhook
}

// Keeping extends a server's lease on its own webhooks. It skips other servers' webhooks.
type Keeping struct {
	Region string
	Lease  ipam.ID
	IDs    []ipam.ID
	Until  time.Time
}
