package codec

import (
	"cmp"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/consumers"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// ConsumerRef returns a reference to a consumer. If the request names no realm, the reference is to the default realm.
func ConsumerRef(realm, uid string) ipam.ConsumerRef {
	return ipam.ConsumerRef{Realm: cmp.Or(realm, ipam.DefaultRealm), UID: uid}
}

// NewConsumer returns the consumer that a request creates or attaches.
func NewConsumer(realm, uid string, s gen.IPConsumerSpec) ipam.NewConsumer {
	return ipam.NewConsumer{Ref: ConsumerRef(realm, uid), Spec: ipam.ConsumerSpec{Kind: s.Kind, Name: s.Name, TTL: ttl(s.TTLSeconds)}}
}

func ttl(s *gen.ConsumerTTL) time.Duration { return time.Duration(ValueOr(s, 0)) * time.Second }

func claimConsumers(list []gen.ClaimConsumer) (all []ipam.NewConsumer) {
	for _, c := range list {
		all = append(all, NewConsumer(c.Realm, c.UID, gen.IPConsumerSpec{Kind: c.Kind, Name: c.Name, TTLSeconds: c.TTLSeconds}))
	}
	return all
}

// Renewals converts the body into the consumers to renew.
func Renewals(b gen.ConsumerRenewal) consumers.Renewals {
	r := consumers.Renewals{Realm: cmp.Or(b.Realm, ipam.DefaultRealm), UIDs: b.Consumers}
	if b.TTLSeconds != nil {
		r.TTL = new(ttl(b.TTLSeconds))
	}
	return r
}

// RenewedOf converts the result into its wire form.
func RenewedOf(r consumers.Renewed) gen.ConsumerRenewed {
	return gen.ConsumerRenewed{Renewed: notNil(r.Renewed), Ended: notNil(r.Ended), Unknown: notNil(r.Unknown)}
}

func notNil(all []string) []string {
	if all == nil {
		return []string{}
	}
	return all
}

// ConsumerOf converts a consumer into its wire form.
func ConsumerOf(c ipam.Consumer) gen.IPConsumer {
	out := gen.IPConsumer{
		Metadata: metadataOf(c.Metadata),
		Spec:     gen.IPConsumerSpec{Kind: c.Spec.Kind, Name: c.Spec.Name},
		Status: gen.IPConsumerStatus{
			Realm: c.Realm, Phase: gen.IPConsumerPhaseLive, RenewedAt: c.RenewedAt, ExpiresAt: OptionalTime(c.ExpiresAt), EndedAt: OptionalTime(c.EndedAt),
			Reason: gen.IPConsumerStatusReason(c.Reason),
		},
	}
	if c.Spec.TTL > 0 {
		out.Spec.TTLSeconds = new(gen.ConsumerTTL(c.Spec.TTL / time.Second))
	}
	if !c.Live() {
		out.Status.Phase = gen.IPConsumerPhaseEnded
	}
	return out
}

// AttachmentOf converts an attachment into its wire form.
func AttachmentOf(a ipam.Attachment) gen.ConsumerAttachment {
	return gen.ConsumerAttachment{UID: a.Consumer.UID, Realm: a.Consumer.Realm, AttachedAt: a.AttachedAt}
}

// RealmOf converts a realm's state into its wire form.
func RealmOf(r ipam.Realm) gen.Realm {
	return gen.Realm{
		Name: r.Name, Live: r.Live, Expired: r.Expired, Held: !r.HeldSince.IsZero(), HeldSince: OptionalTime(r.HeldSince), ConfirmedUntil: OptionalTime(r.ConfirmedUntil),
	}
}
