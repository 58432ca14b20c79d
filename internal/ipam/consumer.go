package ipam

import (
	"cmp"
	"regexp"
	"time"
)

// Consumer is a user of claims, such as a machine or a pod. Its name is its UID in its own system. A realm separates different systems' UIDs. A
// consumer that has ended stays as a tombstone and can never become live again.
type Consumer struct {
	Metadata
	ProjectID ID           `json:"projectId"`
	Realm     string       `json:"realm"`
	Spec      ConsumerSpec `json:"spec"`

	RenewedAt time.Time `json:"renewedAt"`
	ExpiresAt time.Time `json:"expiresAt,omitzero"` // zero: never
	EndedAt   time.Time `json:"endedAt,omitzero"`   // zero: the consumer is live
	Reason    EndReason `json:"reason,omitempty"`   // why the consumer ended
	Draining  bool      `json:"-"`                  // the consumer has ended, but may still be attached to claims
}

// ConsumerSpec has the consumer fields that the caller sets.
type ConsumerSpec struct {
	Kind string        `json:"kind,omitempty"`
	Name string        `json:"name,omitempty"`
	TTL  time.Duration `json:"ttl,omitempty"` // time after a renewal until the consumer expires; 0: it does not expire
}

// NewConsumer is a consumer in a request. If it does not exist, the request creates it.
type NewConsumer struct {
	Ref  ConsumerRef  `json:"ref"`
	Spec ConsumerSpec `json:"spec"`
}

// ConsumerRef names a project's consumer.
type ConsumerRef struct {
	Realm string `json:"realm"`
	UID   string `json:"uid"`
}

// String returns realm/uid.
func (r ConsumerRef) String() string { return r.Realm + "/" + r.UID }

// EndReason is the reason why a consumer ended or was detached.
type EndReason string

// The reasons.
const (
	ReasonDetached EndReason = "Detached" // from one claim, by a caller
	ReasonEnded    EndReason = "Ended"    // a caller has reported its end
	ReasonExpired  EndReason = "Expired"  // it was not renewed in time
)

// WhenUnused determines whether a claim is released when its last consumer is detached.
type WhenUnused string

// The values. UnusedKeep is the default.
const (
	UnusedKeep   WhenUnused = "Keep"   // the claim stays
	UnusedDelete WhenUnused = "Delete" // the transaction that detaches the last consumer releases the claim
)

// Limits for consumers.
const (
	DefaultRealm     = "default"
	MaxConsumerUID   = 128
	MaxConsumerText  = 128
	MinConsumerTTL   = 10 * time.Second
	MaxConsumerTTL   = 7 * 24 * time.Hour
	MostConsumers    = 256 // attached to one claim
	DefaultReuseLost = 5 * time.Minute
)

var consumerUID = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9._:]{0,126}[A-Za-z0-9])?$`)

// ValidConsumerUID reports whether s is a valid UID for a consumer.
func ValidConsumerUID(s string) bool { return consumerUID.MatchString(s) }

// Ref returns the consumer's reference.
func (c Consumer) Ref() ConsumerRef { return ConsumerRef{Realm: c.Realm, UID: c.Name} }

// Live reports whether the consumer has not ended.
func (c Consumer) Live() bool { return c.EndedAt.IsZero() }

// Renewed returns the consumer as it is after a renewal.
func (c Consumer) Renewed(at time.Time) Consumer {
	c.RenewedAt, c.ExpiresAt = at, time.Time{}
	if c.Spec.TTL > 0 {
		c.ExpiresAt = at.Add(c.Spec.TTL)
	}
	return c
}

// Ended returns the consumer as it is after its end.
func (c Consumer) Ended(at time.Time, because EndReason) Consumer {
	c.EndedAt, c.Reason, c.Draining = at, because, true
	return c
}

// Check validates a consumer in a request. pointer is the JSON pointer to the consumer in the body, and uidPointer is the pointer to its UID.
func (c NewConsumer) Check(pointer, uidPointer string) error {
	switch {
	case !ValidName(c.Ref.Realm):
		return Invalid(pointer+"/realm", "must be a DNS label: 1 to 63 of a-z, 0-9 and -, beginning and ending with a letter or digit.")
	case !ValidConsumerUID(c.Ref.UID):
		return Invalid(uidPointer, "must be 1 to %d letters, digits, -, ., _ and :, beginning and ending with a letter or digit.", MaxConsumerUID)
	case c.Spec.TTL != 0 && (c.Spec.TTL < MinConsumerTTL || c.Spec.TTL > MaxConsumerTTL):
		return Invalid(pointer+"/ttlSeconds", "must be %d to %d.", int(MinConsumerTTL.Seconds()), int(MaxConsumerTTL.Seconds()))
	}
	return cmp.Or(CheckText(pointer+"/kind", c.Spec.Kind, MaxConsumerText, false), CheckText(pointer+"/name", c.Spec.Name, MaxConsumerText, false))
}

// Attachment records that a consumer uses a claim.
type Attachment struct {
	Region     string // the claim's
	ProjectID  ID
	ClaimID    ID
	Claim      string // the claim's name
	Consumer   ConsumerRef
	AttachedAt time.Time
}

// Realm describes the consumers in one realm.
type Realm struct {
	Project string
	Name    string
	RealmState
	Live    int64 // live consumers
	Expired int64 // live consumers that have expired
}

// RealmState is a realm's stored state. It is zero unless many consumers in the realm have expired within a short time. Then Carve holds the realm,
// which means that it ends no expired consumers.
type RealmState struct {
	HeldSince      time.Time // since when Carve holds the realm; zero: it does not
	ConfirmedUntil time.Time // a caller has confirmed that the consumers that expired until then are gone, so Carve may end them all
}
