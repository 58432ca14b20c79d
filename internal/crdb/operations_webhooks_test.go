package crdb_test

import (
	"bytes"
	"context"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/alloc/webhooks"
	"github.com/carve-ipam/carve/internal/ipam"
)

// hooked contains the options that a server needs for webhooks.
var hooked = webhooks.Options{Key: bytes.Repeat([]byte("k"), 32)}

func withWebhook(t *testing.T, h *house, p string) {
	t.Helper()
	w := ipam.Webhook{Metadata: ipam.Metadata{Name: "hook"}, Spec: ipam.WebhookSpec{URL: "https://receiver.example/"}}
	_, err := h.svc.CreateWebhook(admin(t), p, w, usecase.Request{})
	require.NoError(t, err)
}

var letter = ipam.ID{7}

// withDeadLetter prepares a webhook with a message that could not be delivered.
func withDeadLetter(t *testing.T, h *house, p string) {
	t.Helper()
	deliver(t, h, p, func(d *ipam.Delivery) {
		d.ID, d.DeadAt, d.Error = letter, d.BeganAt, &ipam.SendError{Reason: "status", Status: 500, At: d.BeganAt}
	})
}

// withDelivery prepares a webhook with a delivery in progress.
func withDelivery(t *testing.T, h *house, p string) {
	t.Helper()
	deliver(t, h, p, func(d *ipam.Delivery) { d.ID = ipam.NewID() })
}

func deliver(t *testing.T, h *house, p string, as func(*ipam.Delivery)) {
	t.Helper()
	withWebhook(t, h, p)
	w, err := h.svc.GetWebhook(admin(t), p, "hook")
	require.NoError(t, err)
	d := ipam.Delivery{
		Region: w.Region, ProjectID: w.ProjectID, WebhookID: w.UID, Cursor: "c", Message: []byte("{}"), Attempts: 1, BeganAt: w.CreatedAt.Add(-time.Minute),
	}
	as(&d)
	require.NoError(t, h.store.InTx(admin(t), "delivery_give_up", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
		return tx.Write(ctx, storage.Changes{WebhookChanges: storage.WebhookChanges{DeliveryInsert: &d}})
	}))
}

func init() {
	getHook := func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
		w, err := svc.GetWebhook(ctx, p, "hook")
		return w, err
	}
	maps.Copy(operations, map[string]operation{
		"CreateWebhook": {tx: "webhook_create", key: "key", prepare: nothing,
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				w := ipam.Webhook{Metadata: ipam.Metadata{Name: "hook"}, Spec: ipam.WebhookSpec{URL: "https://receiver.example/"}}
				made, err := svc.CreateWebhook(ctx, p, w, r)
				made.Value.Secret = ""
				return made.Value, err
			}, stored: getHook},
		"PatchWebhook": {tx: "webhook_patch", prepare: withWebhook,
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return answer(svc.PatchWebhook(ctx, p, "hook", r, func(w ipam.Webhook) (ipam.Webhook, error) { label(&w.Metadata); return w, nil }))
			}, stored: getHook},
		"DeleteWebhook": {tx: "webhook_delete", prepare: withDeadLetter,
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return none(svc.DeleteWebhook(ctx, p, "hook", r))
			},
			stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
				return gone(svc.GetWebhook(ctx, p, "hook"))
			}},
		"RetryDelivery": {tx: "delivery_change", prepare: withDeadLetter,
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return answer(svc.RetryDelivery(ctx, p, "hook", letter, r))
			},
			stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
				page, err := svc.ListDeliveries(ctx, p, "hook", 1, "", usecase.Reading{})
				if err != nil || len(page.Items) == 0 {
					return nil, err
				}
				return page.Items[0], nil
			}},
		"DeleteDelivery": {tx: "delivery_change", prepare: withDeadLetter,
			do: func(ctx context.Context, svc *alloc.Service, p string, r usecase.Request) (any, error) {
				return none(svc.DeleteDelivery(ctx, p, "hook", letter, r))
			},
			stored: func(ctx context.Context, svc *alloc.Service, p string) (any, error) {
				page, err := svc.ListDeliveries(ctx, p, "hook", 1, "", usecase.Reading{})
				if err == nil && len(page.Items) > 0 {
					err = errStillThere
				}
				return nil, err
			}},
	})
}
