package storage

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// MaxConsumers is the approximate limit for a project's consumers in one region. It includes the tombstones of ended consumers. MaxRealms limits a
// project's realms that are held or were confirmed recently.
const (
	MaxConsumers = 1_000_000
	MaxRealms    = 100
)

// ConsumerReader reads consumers and their attachments.
type ConsumerReader interface {
	// ConsumersNamed returns the consumers that exist, in any region. If there are several regions, a transaction with Locks also locks the refs.
	// Then no other transaction can create a missing consumer before this transaction ends.
	ConsumersNamed(ctx context.Context, projectID ipam.ID, refs []ipam.ConsumerRef) ([]ipam.Consumer, error)
	// ConsumerList returns a realm's consumers in UID order, including tombstones.
	ConsumerList(ctx context.Context, project ProjectKey, realm, after string, limit int) ([]ipam.Consumer, error)
	// ConsumersDue returns the realms that have expired consumers in the server's region. It reads a limited number of consumers, beginning with
	// those that expired at start. If there may be more, next is the start for the next call. Otherwise next is zero.
	ConsumersDue(ctx context.Context, by Expiry, start time.Time) (realms []RealmKey, next time.Time, err error)
	// ConsumerDueList returns one realm's expired consumers.
	ConsumerDueList(ctx context.Context, projectID ipam.ID, realm string, by Expiry, limit int) ([]ipam.Consumer, error)
	// ConsumersDraining returns the consumers in the server's region that ended after a time and may still be attached. They are in the order in
	// which they ended.
	ConsumersDraining(ctx context.Context, after time.Time, limit int) ([]ipam.Consumer, error)

	// ProjectsCrowded returns the projects that have minimum or more consumers in the server's region, including tombstones.
	ProjectsCrowded(ctx context.Context, ids []ipam.ID, minimum int) ([]ipam.ID, error)
	// ProjectKeys returns the projects that exist.
	ProjectKeys(ctx context.Context, ids []ipam.ID) ([]ProjectKey, error)

	AttachmentGet(ctx context.Context, c ipam.Claim, ref ipam.ConsumerRef) (ipam.Attachment, error)
	// AttachmentList returns a claim's consumers, in the order of realm and UID.
	AttachmentList(ctx context.Context, c ipam.Claim, after ipam.ConsumerRef, limit int) ([]ipam.Attachment, error)
	// AttachmentListOf returns up to limit attachments for a consumer. AttachmentCount counts them all.
	AttachmentListOf(ctx context.Context, projectID ipam.ID, ref ipam.ConsumerRef, limit int) ([]ipam.Attachment, error)
	AttachmentCount(ctx context.Context, projectID ipam.ID, ref ipam.ConsumerRef) (int64, error)
	// ClaimListOfConsumer returns the claims to which a consumer is attached, in name order.
	ClaimListOfConsumer(ctx context.Context, project ProjectKey, ref ipam.ConsumerRef, after string, limit int) ([]ipam.Claim, error)

	// RealmCount counts a realm's consumers in the server's region. live counts the consumers that have not ended. lost counts the consumers that
	// expired after expiredAfter and that Carve ended after lostAfter because of their expiry.
	RealmCount(ctx context.Context, projectID ipam.ID, realm string, lostAfter, expiredAfter time.Time) (live, lost int64, err error)
	// RealmDue counts a realm's expired consumers in the server's region.
	RealmDue(ctx context.Context, realm RealmKey, by Expiry) (int64, error)
	// RealmExpired counts a realm's consumers in the server's region that expired before a time but have not ended.
	RealmExpired(ctx context.Context, projectID ipam.ID, realm string, before time.Time) (int64, error)
	// RegionsOf returns the regions in which a project may have claims and consumers.
	RegionsOf(ctx context.Context, projectID ipam.ID) ([]string, error)
	// RealmGet returns the stored state for a realm in the server's region. If no state is stored, it returns the zero state.
	RealmGet(ctx context.Context, projectID ipam.ID, realm string) (ipam.RealmState, error)
	// CountOtherRealms counts the project's other realms in the server's region that are held, or that were confirmed since a time.
	CountOtherRealms(ctx context.Context, realm RealmKey, since time.Time) (int64, error)
	// RealmsHeld returns the realms in the server's region that are held. In a held realm, Carve ends no expired consumer.
	RealmsHeld(ctx context.Context, after ipam.ID, limit int) ([]RealmKey, error)
}

// Expiry selects expired consumers. They expired before the time in Before, and their TTL is at most MaxTTL.
type Expiry struct {
	Before time.Time
	MaxTTL time.Duration
}

// RealmKey identifies a realm in a project.
type RealmKey struct {
	ProjectID ipam.ID
	Name      string
}

// ConsumerChanges contains the changes to consumers.
type ConsumerChanges struct {
	ConsumerInsert []ipam.Consumer
	ConsumerUpdate []ConsumerUpdate
	ConsumerRenew  []Renewal

	AttachmentInsert []ipam.Attachment
	AttachmentDelete []ipam.Attachment

	RealmForget []RealmForget
	RealmPut    []RealmPut
}

// ConsumerUpdate replaces the mutable fields in a consumer that still has revision Was.
type ConsumerUpdate struct {
	Was ipam.ID
	Now ipam.Consumer
}

// Renewal renews consumers in one realm in one region. If any of the consumers has ended, the write fails.
type Renewal struct {
	Region    string
	ProjectID ipam.ID
	Realm     string
	UIDs      []string
	Revision  ipam.ID
	At        time.Time
	TTL       *time.Duration // nil: each consumer keeps its TTL
}

// RealmForget deletes the stored state for a project's realms in one region, except realms that are held or have been confirmed since a time.
type RealmForget struct {
	ProjectID ipam.ID
	Region    string
	Since     time.Time
}

// RealmPut stores a realm's state in a region.
type RealmPut struct {
	RealmKey
	Region string
	Now    ipam.RealmState
}

// Any reports whether there is any change.
func (c ConsumerChanges) Any() bool {
	return len(c.ConsumerInsert)+len(c.ConsumerUpdate)+len(c.ConsumerRenew)+len(c.AttachmentInsert)+len(c.AttachmentDelete) > 0 || len(c.RealmPut)+len(c.RealmForget) > 0
}

// Merge combines the changes in c and d.
func (c ConsumerChanges) Merge(d ConsumerChanges) ConsumerChanges {
	c.ConsumerInsert = append(c.ConsumerInsert, d.ConsumerInsert...)
	c.ConsumerUpdate = append(c.ConsumerUpdate, d.ConsumerUpdate...)
	c.ConsumerRenew = append(c.ConsumerRenew, d.ConsumerRenew...)
	c.AttachmentInsert = append(c.AttachmentInsert, d.AttachmentInsert...)
	c.AttachmentDelete = append(c.AttachmentDelete, d.AttachmentDelete...)
	c.RealmForget = append(c.RealmForget, d.RealmForget...)
	c.RealmPut = append(c.RealmPut, d.RealmPut...)
	return c
}
