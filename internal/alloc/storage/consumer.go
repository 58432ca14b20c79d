package storage

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Bounds of what is stored of a project: about so many consumers in a region, tombstones among them, and realms whose expiry was confirmed lately.
const (
	MaxConsumers = 1_000_000
	MaxRealms    = 100
)

// ConsumerReader reads consumers, and what they use.
type ConsumerReader interface {
	// ConsumersNamed answers those of some consumers that there are, of whichever region. In a transaction under locks nobody makes one of them meanwhile.
	ConsumersNamed(ctx context.Context, projectID ipam.ID, refs []ipam.ConsumerRef) ([]ipam.Consumer, error)
	// ConsumerList answers a realm's consumers in order of UID, tombstones among them.
	ConsumerList(ctx context.Context, project ProjectKey, realm, after string, limit int) ([]ipam.Consumer, error)
	// ConsumersDue answers the realms of those consumers in the server's region that have expired, at a time or later, as far as it looks at once; and the time
	// to look from next, which is zero when it has looked at all.
	ConsumersDue(ctx context.Context, by Expiry, from time.Time) (realms []RealmKey, next time.Time, err error)
	// ConsumerDueList answers some of one realm that have expired until a time.
	ConsumerDueList(ctx context.Context, projectID ipam.ID, realm string, by Expiry, limit int) ([]ipam.Consumer, error)
	// ConsumersDraining answers some consumers in the server's region that have ended after a time and may still be attached, the first to end first.
	ConsumersDraining(ctx context.Context, after time.Time, limit int) ([]ipam.Consumer, error)

	// ProjectsCrowded answers those of some projects that have at least so many consumers in the server's region, tombstones among them.
	ProjectsCrowded(ctx context.Context, ids []ipam.ID, least int) ([]ipam.ID, error)
	// ProjectKeys answers those of some projects that there are.
	ProjectKeys(ctx context.Context, ids []ipam.ID) ([]ProjectKey, error)

	AttachmentGet(ctx context.Context, c ipam.Claim, ref ipam.ConsumerRef) (ipam.Attachment, error)
	// AttachmentList answers the consumers of a claim, in order of realm and UID.
	AttachmentList(ctx context.Context, c ipam.Claim, after ipam.ConsumerRef, limit int) ([]ipam.Attachment, error)
	// AttachmentListOf answers some claims that a consumer is attached to, and AttachmentCount how many there are.
	AttachmentListOf(ctx context.Context, projectID ipam.ID, ref ipam.ConsumerRef, limit int) ([]ipam.Attachment, error)
	AttachmentCount(ctx context.Context, projectID ipam.ID, ref ipam.ConsumerRef) (int64, error)
	// ClaimListOfConsumer answers the claims that a consumer is attached to, in order of name.
	ClaimListOfConsumer(ctx context.Context, project ProjectKey, ref ipam.ConsumerRef, after string, limit int) ([]ipam.Claim, error)

	// RealmCount counts the consumers of a realm in the server's region that live, and those that were lost after a time and had expired after another.
	RealmCount(ctx context.Context, projectID ipam.ID, realm string, lostAfter, expiredAfter time.Time) (live, lost int64, err error)
	// RealmDue counts those in the server's region that have expired.
	RealmDue(ctx context.Context, realm RealmKey, by Expiry) (int64, error)
	// RealmExpired counts those in the server's region that have expired before a time and live.
	RealmExpired(ctx context.Context, projectID ipam.ID, realm string, before time.Time) (int64, error)
	// RegionsOf answers the regions in which a project may have claims and consumers.
	RegionsOf(ctx context.Context, projectID ipam.ID) ([]string, error)
	// RealmGet answers what is stored of a realm in the server's region; the zero state when nothing is.
	RealmGet(ctx context.Context, projectID ipam.ID, realm string) (ipam.RealmState, error)
	// RealmOthers counts a project's other realms in the server's region that are held, or were confirmed at a time or later.
	RealmOthers(ctx context.Context, realm RealmKey, since time.Time) (int64, error)
	// RealmsHeld answers some realms in the server's region in which nobody is ended for having expired.
	RealmsHeld(ctx context.Context, after ipam.ID, limit int) ([]RealmKey, error)
}

// Expiry says which consumers have expired: those whose time was up before a time and who live for no longer than some after they were renewed.
type Expiry struct {
	Before time.Time
	MaxTTL time.Duration
}

// RealmKey names a realm of a project.
type RealmKey struct {
	ProjectID ipam.ID
	Name      string
}

// ConsumerChanges is the part of Changes about consumers.
type ConsumerChanges struct {
	ConsumerInsert []ipam.Consumer
	ConsumerUpdate []ConsumerUpdate
	ConsumerRenew  []Renewal

	AttachmentInsert []ipam.Attachment
	AttachmentDelete []ipam.Attachment

	RealmForget []RealmForget
	RealmPut    []RealmPut
}

// ConsumerUpdate replaces what can change of a consumer that still has revision Was.
type ConsumerUpdate struct {
	Was ipam.ID
	Now ipam.Consumer
}

// Renewal renews consumers of a realm in one region, none of which may have ended.
type Renewal struct {
	Region    string
	ProjectID ipam.ID
	Realm     string
	UIDs      []string
	Revision  ipam.ID
	At        time.Time
	TTL       *time.Duration // nil: the one that each has
}

// RealmForget deletes what is stored of a project's realms in a region that are not held and were not confirmed since a time.
type RealmForget struct {
	ProjectID ipam.ID
	Region    string
	Since     time.Time
}

// RealmPut stores what there is to know of a realm in a region.
type RealmPut struct {
	RealmKey
	Region string
	Now    ipam.RealmState
}

// Any reports whether anything changes.
func (c ConsumerChanges) Any() bool {
	return len(c.ConsumerInsert)+len(c.ConsumerUpdate)+len(c.ConsumerRenew)+len(c.AttachmentInsert)+len(c.AttachmentDelete) > 0 || len(c.RealmPut)+len(c.RealmForget) > 0
}

// And is what two parts of a transaction change.
func (c ConsumerChanges) And(d ConsumerChanges) ConsumerChanges {
	c.ConsumerInsert = append(c.ConsumerInsert, d.ConsumerInsert...)
	c.ConsumerUpdate = append(c.ConsumerUpdate, d.ConsumerUpdate...)
	c.AttachmentInsert = append(c.AttachmentInsert, d.AttachmentInsert...)
	c.AttachmentDelete = append(c.AttachmentDelete, d.AttachmentDelete...)
	return c
}
