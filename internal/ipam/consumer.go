package ipam

import (
	"regexp"
	"time"
)

// Consumer is whatever uses claims: a machine, a pod, an agent. Its name is the UID by which its world knows it, in a realm that keeps two such worlds
// apart. One that has ended stays as a tombstone: it never comes back.
type Consumer struct {
	Metadata
	ProjectID ID           `json:"projectId"`
	Realm     string       `json:"realm"`
	Spec      ConsumerSpec `json:"spec"`

	RenewedAt time.Time `json:"renewedAt"`
	ExpiresAt time.Time `json:"expiresAt,omitzero"` // zero: never
	EndedAt   time.Time `json:"endedAt,omitzero"`   // zero: it lives
	Reason    EndReason `json:"reason,omitempty"`   // of its end
	Draining  bool      `json:"-"`                  // it has ended, and may still be attached somewhere
}

// ConsumerSpec is what the caller writes of a consumer.
type ConsumerSpec struct {
	Kind string        `json:"kind,omitempty"`
	Name string        `json:"name,omitempty"`
	TTL  time.Duration `json:"ttl,omitempty"` // how long it lives after it was renewed; 0: it does not expire
}

// NewConsumer is a consumer as a request names it that may have to make it.
type NewConsumer struct {
	Ref  ConsumerRef  `json:"ref"`
	Spec ConsumerSpec `json:"spec"`
}

// ConsumerRef names a consumer of a project.
type ConsumerRef struct {
	Realm string `json:"realm"`
	UID   string `json:"uid"`
}

// String renders realm/uid.
func (r ConsumerRef) String() string { return r.Realm + "/" + r.UID }

// EndReason says why a consumer ended, or was detached.
type EndReason string

// The reasons.
const (
	ReasonDetached EndReason = "Detached" // from one claim, by a caller
	ReasonEnded    EndReason = "Ended"    // a caller said that it ended
	ReasonExpired  EndReason = "Expired"  // it was not renewed in time
)

// WhenUnused says what becomes of a claim when its last consumer is detached.
type WhenUnused string

// What becomes of it. UnusedKeep is the default.
const (
	UnusedKeep   WhenUnused = "Keep"   // it stays
	UnusedDelete WhenUnused = "Delete" // it is released, in the transaction that detaches the last
)

// Bounds of consumers.
const (
	DefaultRealm     = "default"
	MaxConsumerUID   = 128
	MaxConsumerText  = 128
	MinConsumerTTL   = 10 * time.Second
	MaxConsumerTTL   = 7 * 24 * time.Hour
	MostConsumers    = 256 // of one claim
	DefaultReuseLost = 5 * time.Minute
)

var consumerUID = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9._:]{0,126}[A-Za-z0-9])?$`)

// ValidConsumerUID reports whether s can be the UID of a consumer.
func ValidConsumerUID(s string) bool { return consumerUID.MatchString(s) }

// Ref of the consumer.
func (c Consumer) Ref() ConsumerRef { return ConsumerRef{Realm: c.Realm, UID: c.Name} }

// Live reports whether it has not ended.
func (c Consumer) Live() bool { return c.EndedAt.IsZero() }

// Renewed is the consumer as it is when it is renewed at a time.
func (c Consumer) Renewed(at time.Time) Consumer {
	c.RenewedAt, c.ExpiresAt = at, time.Time{}
	if c.Spec.TTL > 0 {
		c.ExpiresAt = at.Add(c.Spec.TTL)
	}
	return c
}

// Ended is the consumer as it is when it has ended.
func (c Consumer) Ended(at time.Time, because EndReason) Consumer {
	c.EndedAt, c.Reason, c.Draining = at, because, true
	return c
}

// Check validates a consumer that a caller writes; at is where it stands in the body, and uid where its UID does.
func (c NewConsumer) Check(at, uid string) error {
	switch {
	case !ValidName(c.Ref.Realm):
		return Invalid(at+"/realm", "must be a DNS label: 1 to 63 of a-z, 0-9 and -, beginning and ending with a letter or digit.")
	case !ValidConsumerUID(c.Ref.UID):
		return Invalid(uid, "must be 1 to %d letters, digits, -, ., _ and :, beginning and ending with a letter or digit.", MaxConsumerUID)
	case c.Spec.TTL != 0 && (c.Spec.TTL < MinConsumerTTL || c.Spec.TTL > MaxConsumerTTL):
		return Invalid(at+"/ttlSeconds", "must be %d to %d.", int(MinConsumerTTL.Seconds()), int(MaxConsumerTTL.Seconds()))
	}
	if err := CheckText(at+"/kind", c.Spec.Kind, MaxConsumerText, false); err != nil {
		return err
	}
	return CheckText(at+"/name", c.Spec.Name, MaxConsumerText, false)
}

// Attachment says that a consumer uses a claim.
type Attachment struct {
	Region     string // of the claim
	ProjectID  ID
	ClaimID    ID
	Claim      string // its name
	Consumer   ConsumerRef
	AttachedAt time.Time
}

// Realm is what is known of the consumers of one realm.
type Realm struct {
	Project string
	Name    string
	RealmState
	Live    int64 // consumers that live
	Expired int64 // of them, those whose time is up
}

// RealmState is what is stored of a realm: nothing, unless many of its consumers have expired at once.
type RealmState struct {
	HeldSince      time.Time // since when none of its consumers is ended for having expired; zero: they are
	ConfirmedUntil time.Time // what expired until then may be ended, however many
}
