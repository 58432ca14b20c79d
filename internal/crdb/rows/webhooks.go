package rows

import (
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

type webhookRow = labelled[ipam.Webhook]

// Webhooks maps webhooks to rows. The rows have no project name, so a webhook from a row has none either.
var Webhooks = labelledKind(func(v *ipam.Webhook) *ipam.Metadata { return &v.Metadata }, table[webhookRow]{
	plain("region", func(r *webhookRow) *string { return &r.object.Region }),
	id("project_id", func(r *webhookRow) *ipam.ID { return &r.object.ProjectID }),
	plain("name", func(r *webhookRow) *string { return &r.object.Name }),
	document("spec", func(r *webhookRow) *ipam.WebhookSpec { return &r.object.Spec }, func(r *webhookRow) *string { return &r.spec }),
	document("progress", func(r *webhookRow) *ipam.WebhookProgress { return &r.object.Progress }, func(r *webhookRow) *string { return &r.progress }),
	text("stopped", func(r *webhookRow) *ipam.StopReason { return &r.object.Stopped }),
	nullableMoment("due_at", func(r *webhookRow) *time.Time { return &r.object.DueAt }),
	nullableID("lease", func(r *webhookRow) *ipam.ID { return &r.object.Lease }),
	id("epoch", func(r *webhookRow) *ipam.ID { return &r.object.Epoch }),
	plain("dead_letters", func(r *webhookRow) *int64 { return &r.object.DeadLetters }),
}, func(r *webhookRow, d *documents) {
	r.spec, r.progress = d.encode(r.object.Spec), d.encode(r.object.Progress)
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
	nullable("error", func(r *deliveryRow) **ipam.SendError { return &r.Error }, func(r *deliveryRow) *string { return r.problem }),
	nullableMoment("dead_at", func(r *deliveryRow) *time.Time { return &r.DeadAt }),
	plain("retry", func(r *deliveryRow) *bool { return &r.Retry }),
}, func(d ipam.Delivery, docs *documents) deliveryRow {
	r := deliveryRow{Delivery: d}
	if d.Error != nil {
		text := docs.encode(d.Error)
		r.problem = &text
	}
	return r
}, func(r *deliveryRow) (ipam.Delivery, error) { return r.Delivery, nil })
