package rows

import (
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

type consumerRow struct {
	ipam.Consumer
	ttl int64
}

// Consumers maps consumers to rows. A consumer that is read lacks its project's name.
var Consumers = kindOf(slices.Concat(
	recordColumns(func(r *consumerRow) *ipam.Metadata { return &r.Metadata }),
	table[consumerRow]{
		plain("region", func(r *consumerRow) *string { return &r.Region }),
		id("project_id", func(r *consumerRow) *ipam.ID { return &r.ProjectID }),
		plain("realm", func(r *consumerRow) *string { return &r.Realm }),
		plain("uid", func(r *consumerRow) *string { return &r.Name }),
		plain("kind", func(r *consumerRow) *string { return &r.Spec.Kind }),
		plain("name", func(r *consumerRow) *string { return &r.Spec.Name }),
		plain("ttl_seconds", func(r *consumerRow) *int64 { return &r.ttl }),
		moment("renewed_at", func(r *consumerRow) *time.Time { return &r.RenewedAt }),
		nullableMoment("expires_at", func(r *consumerRow) *time.Time { return &r.ExpiresAt }),
		nullableMoment("ended_at", func(r *consumerRow) *time.Time { return &r.EndedAt }),
		text("reason", func(r *consumerRow) *ipam.EndReason { return &r.Reason }),
		plain("draining", func(r *consumerRow) *bool { return &r.Draining }),
	},
), func(c ipam.Consumer, _ *documents) consumerRow { return consumerRow{c, seconds(c.Spec.TTL)} }, func(r *consumerRow) (ipam.Consumer, error) {
	r.Spec.TTL = time.Duration(r.ttl) * time.Second
	return r.Consumer, nil
})

// Attachments maps attachments to rows. An attachment connects a consumer to a claim.
var Attachments = kindOf(table[ipam.Attachment]{
	plain("region", func(r *ipam.Attachment) *string { return &r.Region }),
	id("project_id", func(r *ipam.Attachment) *ipam.ID { return &r.ProjectID }),
	id("claim_id", func(r *ipam.Attachment) *ipam.ID { return &r.ClaimID }),
	plain("claim_name", func(r *ipam.Attachment) *string { return &r.Claim }),
	plain("realm", func(r *ipam.Attachment) *string { return &r.Consumer.Realm }),
	plain("uid", func(r *ipam.Attachment) *string { return &r.Consumer.UID }),
	moment("attached_at", func(r *ipam.Attachment) *time.Time { return &r.AttachedAt }),
}, asItIs, asRead)

// Realms maps realm states to rows. A state that is read lacks its realm's key.
var Realms = kindOf(table[ipam.RealmState]{
	nullableMoment("held_since", func(r *ipam.RealmState) *time.Time { return &r.HeldSince }),
	nullableMoment("confirmed_until", func(r *ipam.RealmState) *time.Time { return &r.ConfirmedUntil }),
}, asItIs, asRead)
