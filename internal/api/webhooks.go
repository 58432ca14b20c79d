package api

import (
	"context"
	"encoding/json"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/alloc/feed"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/alloc/webhooks"
	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (s *server) ListWebhooks(c echo.Context, project string, p gen.ListWebhooksParams) error {
	return list(c, p.Limit, p.Cursor, project, s.use.ListWebhooks, codec.WebhookOf)
}

// CreateWebhook returns the secret once.
func (s *server) CreateWebhook(c echo.Context, project string, p gen.CreateWebhookParams) error {
	return create(c, post{project: project, key: p.IdempotencyKey, dryRun: p.DryRun}, codec.NewWebhook, s.use.CreateWebhook, func(w ipam.Webhook) gen.Webhook {
		shown := codec.WebhookOf(w)
		shown.Secret = w.Secret
		return shown
	})
}

func (s *server) GetWebhook(c echo.Context, project, webhook string) error {
	return get(c, project, webhook, s.use.GetWebhook, codec.WebhookOf)
}

func (s *server) PatchWebhook(c echo.Context, project, webhook string, p gen.PatchWebhookParams) error {
	return patch(c, p.IfMatch, p.DryRun, project, webhook, codec.PatchWebhook, s.use.PatchWebhook, codec.WebhookOf)
}

func (s *server) DeleteWebhook(c echo.Context, project, webhook string, p gen.DeleteWebhookParams) error {
	return remove(c, p.IfMatch, p.DryRun, project, webhook, s.use.DeleteWebhook)
}

func (s *server) ListWebhookDeliveries(c echo.Context, project, webhook string, p gen.ListWebhookDeliveriesParams) error {
	return list(c, p.Limit, p.Cursor, project, withArgument(webhook, s.use.ListDeliveries), codec.DeliveryOf)
}

func (s *server) DeleteWebhookDelivery(c echo.Context, project, webhook string, delivery gen.DeliveryID, p gen.DeleteWebhookDeliveryParams) error {
	return remove(c, p.IfMatch, p.DryRun, project, delivery, func(ctx context.Context, project, delivery string, r usecase.Request) error {
		id, err := ipam.ParseID(delivery)
		if err != nil {
			return err
		}
		return s.use.DeleteDelivery(ctx, project, webhook, id, r)
	})
}

func (s *server) RetryWebhookDelivery(c echo.Context, project, webhook string, delivery gen.DeliveryID, p gen.RetryWebhookDeliveryParams) error {
	id, err := ipam.ParseID(delivery)
	if err != nil {
		return err
	}
	r := usecase.Request{DryRun: value(p.DryRun)}
	d, err := s.use.RetryDelivery(c.Request().Context(), project, webhook, id, r)
	if err == nil {
		mark(c, r.DryRun, false)
	}
	return reply(c, d, err, codec.DeliveryOf)
}

// WebhookMessages returns a function that writes webhook message bodies. clock gives the time for fields that depend on it.
func WebhookMessages(clock func() time.Time) func(webhooks.Message) ([]byte, error) {
	return func(m webhooks.Message) ([]byte, error) {
		out := gen.WebhookMessage{Type: gen.WebhookMessageTypeChanges, Webhook: m.Webhook, Project: m.Project, Cursor: m.Cursor}
		if m.Resync {
			out.Type = gen.WebhookMessageTypeResync
		}
		for _, change := range m.Changes {
			shown, err := showChange(change, clock())
			if err != nil {
				return nil, err
			}
			out.Changes = append(out.Changes, shown)
		}
		return json.Marshal(out)
	}
}

// showChange converts a change into its wire form. now is the time for fields that depend on it.
func showChange(c *feed.Change, now time.Time) (gen.Change, error) {
	out := gen.Change{Kind: gen.ChangeKind(c.Kind), Name: c.Name, Type: gen.ChangeTypePut, At: c.At.UTC(), Operation: c.Operation}
	var shown any
	switch object := c.Object.(type) {
	case ipam.Pool:
		shown = codec.PoolOf(object, now)
	case ipam.Claim:
		shown = codec.ClaimOf(object)
	case ipam.Allocation:
		shown = codec.AllocationOf(object)
	case ipam.Class:
		shown = codec.ClassOf(object)
	case ipam.Quota:
		shown = codec.QuotaOf(object)
	case ipam.Consumer:
		shown = codec.ConsumerOf(object)
	case ipam.Alert:
		shown = codec.AlertOf(object)
	default:
		out.Type = gen.ChangeTypeDelete
		return out, nil
	}
	var err error
	out.Object, err = json.Marshal(shown)
	return out, err
}
