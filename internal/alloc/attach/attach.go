package attach

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Users contains the consumers that one transaction attaches to claims, and their changes. It writes each consumer exactly once, even if several
// claims get the same consumer. It also writes a consumer whose fields do not change, so that a concurrent transaction that ends the consumer
// conflicts on the same row.
type Users struct {
	read map[key]ipam.Consumer
	done map[key]bool
	list []written
	ch   storage.ConsumerChanges
}

// written is a consumer to write. For a new consumer, event is the start of its creation event.
type written struct {
	now   ipam.Consumer
	event ipam.Event
}

type key struct {
	project ipam.ID
	ref     ipam.ConsumerRef
}

// ReadAdmitted calls Read and Admit.
func (u *Users) ReadAdmitted(ctx context.Context, read storage.Reader, projectID ipam.ID, wanted []ipam.NewConsumer) error {
	if err := u.Read(ctx, read, projectID, wanted); err != nil {
		return err
	}
	return u.Admit(projectID, wanted)
}

// Read reads the consumers that the transaction will attach. It keeps the rows from earlier calls.
func (u *Users) Read(ctx context.Context, read storage.Reader, projectID ipam.ID, wanted []ipam.NewConsumer) error {
	if len(wanted) == 0 {
		return nil
	}
	if u.read == nil {
		u.read, u.done = map[key]ipam.Consumer{}, map[key]bool{}
	}
	refs, seen := make([]ipam.ConsumerRef, 0, len(wanted)), make(map[ipam.ConsumerRef]bool, len(wanted))
	for _, n := range wanted {
		if !seen[n.Ref] {
			refs, seen[n.Ref] = append(refs, n.Ref), true
		}
	}
	found, err := read.ConsumersNamed(ctx, projectID, refs)
	for _, c := range found {
		u.read[key{projectID, c.Ref()}] = c
	}
	return err
}

// Admit returns an error if any consumer has ended.
func (u *Users) Admit(projectID ipam.ID, wanted []ipam.NewConsumer) error {
	for _, n := range wanted {
		if c, there := u.read[key{projectID, n.Ref}]; there && !c.Live() {
			return Ended(c)
		}
	}
	return nil
}

// Ended returns the refusal for an ended consumer.
func Ended(c ipam.Consumer) error {
	return ipam.Errorf(ipam.CodeConsumerEnded, "Consumer %s has ended and cannot come back. Use another UID for a new consumer of this name.", c.Ref())
}

// Details contains an attachment's project, region, time and caller.
type Details struct {
	Project storage.ProjectKey
	Region  string     // for new consumers
	Event   ipam.Event // the start of an event, which names the caller
	At      usecase.Timestamp
}

// Attach attaches consumers to a claim, which must already have its region, UID and new revision. It creates the consumers that do not exist.
func (u *Users) Attach(c *ipam.Claim, wanted []ipam.NewConsumer, by Details) {
	for _, n := range wanted {
		at := key{by.Project.ID, n.Ref}
		if !u.done[at] {
			u.done[at] = true
			u.list = append(u.list, written{u.next(c, at, n, by), by.Event})
		}
		u.ch.AttachmentInsert = append(u.ch.AttachmentInsert, ipam.Attachment{
			Region: c.Region, ProjectID: by.Project.ID, ClaimID: c.UID, Claim: c.Name, Consumer: n.Ref, AttachedAt: by.At,
		})
	}
}

// next returns the new state of a consumer after the attachment.
func (u *Users) next(c *ipam.Claim, at key, n ipam.NewConsumer, by Details) ipam.Consumer {
	next, there := u.read[at]
	if !there {
		next = ipam.Consumer{
			Metadata: ipam.Metadata{
				Name: n.Ref.UID, UID: ipam.DerivedID(c.UID, "consumer "+n.Ref.String()), Region: by.Region, Generation: 1,
				CreatedAt: by.At, UpdatedAt: by.At, CreatedBy: by.Event.Subject,
			},
			ProjectID: by.Project.ID, Realm: n.Ref.Realm, Spec: n.Spec,
		}
	}
	next.Project, next.Revision = by.Project.Name, ipam.DerivedID(c.Revision, "consumer "+n.Ref.String())
	return next.Renewed(by.At)
}

// AddTo adds the consumers' changes to ch.
func (u *Users) AddTo(ch *storage.Changes) error {
	for _, w := range u.list {
		was, there := u.read[key{w.now.ProjectID, w.now.Ref()}]
		if there {
			u.ch.ConsumerUpdate = append(u.ch.ConsumerUpdate, storage.ConsumerUpdate{Was: was.Revision, Now: w.now})
			continue
		}
		u.ch.ConsumerInsert = append(u.ch.ConsumerInsert, w.now)
		e, err := Recorded(w.event, nil, &w.now)
		if err != nil {
			return err
		}
		ch.Events = append(ch.Events, e)
	}
	ch.ConsumerChanges = ch.Merge(u.ch)
	return nil
}

// Recorded returns the event for a consumer that was created, changed or ended. e names the caller.
func Recorded(e ipam.Event, was, now *ipam.Consumer) (ipam.Event, error) {
	record := func(c *ipam.Consumer) *trail.Record {
		if c == nil {
			return nil
		}
		r := trail.Recorded(c.Metadata, struct {
			Kind string `json:"kind,omitempty"`
			Name string `json:"name,omitempty"`
			TTL  int64  `json:"ttlSeconds,omitempty"`
		}{c.Spec.Kind, c.Spec.Name, int64(c.Spec.TTL.Seconds())})
		r.Because = string(c.Reason)
		return r
	}
	one := now
	if one == nil {
		one = was
	}
	e.ID, e.ProjectID, e.Kind, e.Name = ipam.NewTimeID(e.At), one.ProjectID, trail.KindConsumer, one.Ref().String()
	return trail.Effected(e, record(was), record(now))
}
