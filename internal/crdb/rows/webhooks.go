package rows

import (
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

type webhookRow struct {
	ipam.Webhook
	metadata
	spec, progress string
}

// Webhooks maps webhooks to rows. A webhook that is read lacks the name of its project.
var Webhooks = kindOf(slices.Concat(
	recordColumns(func(r *webhookRow) *ipam.Metadata { return &r.Metadata }),
	labelColumns(func(r *webhookRow) *ipam.Metadata { return &r.Metadata }, func(r *webhookRow) *metadata { return &r.metadata }),
	table[webhookRow]{
		plain("region", func(r *webhookRow) *string { return &r.Region }),
		id("project_id", func(r *webhookRow) *ipam.ID { return &r.ProjectID }),
		plain("name", func(r *webhookRow) *string { return &r.Name }),
		document("spec", func(r *webhookRow) *ipam.WebhookSpec { return &r.Spec }, func(r *webhookRow) *string { return &r.spec }),
		document("progress", func(r *webhookRow) *ipam.WebhookProgress { return &r.Progress }, func(r *webhookRow) *string { return &r.progress }),
		text("stopped", func(r *webhookRow) *ipam.StopReason { return &r.Stopped }),
		maybeMoment("due_at", func(r *webhookRow) *time.Time { return &r.DueAt }),
		maybeID("lease", func(r *webhookRow) *ipam.ID { return &r.Lease }),
		id("epoch", func(r *webhookRow) *ipam.ID { return &r.Epoch }),
		plain("dead_letters", func(r *webhookRow) *int64 { return &r.DeadLetters }),
	},
), func(w ipam.Webhook, d *documents) webhookRow {
	return webhookRow{w, d.metadata(w.Metadata), d.of(w.Spec), d.of(w.Progress)}
}, func(r *webhookRow) (ipam.Webhook, error) {
	normalize(&r.Metadata)
	return r.Webhook, nil
})

type deliveryRow struct {
	ipam.Delivery
	problem *string
}

// Deliveries maps deliveries, pending or failed, to rows.
var Deliveries = kindOf(table[deliveryRow]{
	plain("region", func(r *deliveryRow) *string { return &r.Region }),
	id("project_id", func(r *deliveryRow) *ipam.ID { return &r.ProjectID }),
	id("webhook_id", func(r *deliveryRow) *ipam.ID { return &r.WebhookID }),
	id("id", func(r *deliveryRow) *ipam.ID { return &r.ID }),
	plain("cursor", func(r *deliveryRow) *string { return &r.Cursor }),
	raw("message", func(r *deliveryRow) *[]byte { return &r.Message }),
	plain("attempts", func(r *deliveryRow) *int { return &r.Attempts }),
	moment("began_at", func(r *deliveryRow) *time.Time { return &r.BeganAt }),
	maybeDocument("error", func(r *deliveryRow) **ipam.SendError { return &r.Error }, func(r *deliveryRow) **string { return &r.problem }),
	maybeMoment("dead_at", func(r *deliveryRow) *time.Time { return &r.DeadAt }),
	plain("retry", func(r *deliveryRow) *bool { return &r.Retry }),
}, func(d ipam.Delivery, docs *documents) deliveryRow {
	r := deliveryRow{Delivery: d}
	if d.Error != nil {
		text := docs.of(d.Error)
		r.problem = &text
	}
	return r
}, func(r *deliveryRow) (ipam.Delivery, error) { return r.Delivery, nil })
