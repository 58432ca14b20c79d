package storage

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// WebhookReader reads webhooks, and what is being sent to them.
type WebhookReader interface {
	WebhookGet(ctx context.Context, project ProjectKey, name string) (ipam.Webhook, error)
	// WebhookList answers the webhooks of a project, of all regions, by name after a name.
	WebhookList(ctx context.Context, project ProjectKey, after string, limit int) ([]ipam.Webhook, error)
	// WebhooksDue answers some webhooks in the server's region that a server is to look at, the longest past first, without the names of their projects.
	WebhooksDue(ctx context.Context, now time.Time, limit int) ([]ipam.Webhook, error)

	// DeliveryOldest answers since when the delivery of the server's region has been tried that has been for longest, before a time; the zero time when there
	// is none.
	DeliveryOldest(ctx context.Context, before time.Time) (time.Time, error)
	DeliveryGet(ctx context.Context, w ipam.Webhook, id ipam.ID) (ipam.Delivery, error)
	// DeliveryNext answers what is to be sent to a webhook: what is to be sent once more, or else what is being sent.
	DeliveryNext(ctx context.Context, w ipam.Webhook) (d ipam.Delivery, found bool, err error)
	// DeliveryList answers what was given up of a webhook after an id, the oldest first.
	DeliveryList(ctx context.Context, w ipam.Webhook, after ipam.ID, limit int) ([]ipam.Delivery, error)
}

// WebhookChanges is the part of Changes about webhooks. A webhook goes with its deliveries.
type WebhookChanges struct {
	WebhookInsert *ipam.Webhook
	WebhookUpdate *WebhookUpdate
	WebhookDelete *ipam.Webhook // at the revision that was read

	WebhookKeep *Keeping

	// Of one webhook, which whoever changes them changes too.
	DeliveryInsert *ipam.Delivery
	DeliveryUpdate *ipam.Delivery
	DeliveryDelete *ipam.Delivery
}

// WebhookUpdate replaces what can change of a webhook that still has epoch Was.
type WebhookUpdate struct {
	Was ipam.ID
	Now ipam.Webhook
}

// Keeping has those of some webhooks be a server's for longer that are its own.
type Keeping struct {
	Region string
	Lease  ipam.ID
	IDs    []ipam.ID
	Until  time.Time
}
