package attach

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Users is the consumers that one transaction attaches to claims, as they were read, and what becomes of them. Each is written once, however many claims
// it is attached to: written it is in any case, so that whoever ends it meanwhile meets this transaction in its row.
type Users struct {
	read map[key]ipam.Consumer
	done map[key]bool
	list []written
	ch   storage.ConsumerChanges
}

// written is a consumer as it is written, and the beginning of what the trail says of one that is made.
type written struct {
	now   ipam.Consumer
	event ipam.Event
}

type key struct {
	project ipam.ID
	ref     ipam.ConsumerRef
}

// ReadAdmitted is Read and Admit.
func (u *Users) ReadAdmitted(ctx context.Context, read storage.Reader, projectID ipam.ID, wanted []ipam.NewConsumer) error {
	if err := u.Read(ctx, read, projectID, wanted); err != nil {
		return err
	}
	return u.Admit(projectID, wanted)
}

// Read reads some consumers of a project that are to be attached, besides those that were read before.
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

// Admit refuses consumers of which one has ended.
func (u *Users) Admit(projectID ipam.ID, wanted []ipam.NewConsumer) error {
	for _, n := range wanted {
		if c, there := u.read[key{projectID, n.Ref}]; there && !c.Live() {
			return Ended(c)
		}
	}
	return nil
}

// Ended refuses a consumer that has ended.
func Ended(c ipam.Consumer) error {
	return ipam.Errorf(ipam.CodeConsumerEnded, "Consumer %s has ended and cannot come back: what lives on under its name needs another UID.", c.Ref())
}

// By is who attaches, in which project and in which region.
type By struct {
	Project storage.ProjectKey
	Region  string     // of consumers that are made
	Event   ipam.Event // who it is: the beginning of what the trail says
	At      usecase.Timestamp
}

// Attach attaches consumers to a claim, which is in its region and has its id and its revision. Those that are not there are made.
func (u *Users) Attach(c *ipam.Claim, wanted []ipam.NewConsumer, by By) {
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

// next is a consumer as it is when it is attached to a claim.
func (u *Users) next(c *ipam.Claim, at key, n ipam.NewConsumer, by By) ipam.Consumer {
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

// Into adds what becomes of the consumers to the changes.
func (u *Users) Into(ch *storage.Changes) error {
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
	ch.ConsumerChanges = ch.And(u.ch)
	return nil
}

// Recorded is what the trail says of a consumer that is made, changed or ended, by an event that has who did it.
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
