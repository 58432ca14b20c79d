package consumers

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// DetachConsumer detaches a consumer from a claim. If it was the last consumer and the claim has whenUnused Delete, the same transaction releases the
// claim. DetachConsumer also succeeds if the consumer is not attached or the claim does not exist.
func (s *Consumers) DetachConsumer(ctx context.Context, project, claim string, ref ipam.ConsumerRef, r usecase.Request) error {
	_, in, err := s.Enter(ctx, tenancy.ConsumersWrite, project)
	if err != nil {
		return err
	}
	if err := (ipam.NewConsumer{Ref: ref}).Check("query:", "path:uid"); err != nil {
		return err
	}
	return s.detach(ctx, in, detachment{
		claim: claim, because: ipam.ReleaseCause{Reason: ipam.ReasonDetached, Consumer: ref}, request: r,
		event: trail.Attempt(ctx, s.Now(), in.ID, trail.KindClaim, claim),
	})
}

type detachment struct {
	claim   string
	id      ipam.ID // the claim's UID; zero: any claim with that name
	because ipam.ReleaseCause
	event   ipam.Event // names the caller
	request usecase.Request
}

// detach detaches the consumer if it is attached.
func (s *Consumers) detach(ctx context.Context, in storage.ProjectKey, d detachment) error {
	defer s.claims.ForgetClaim(in, d.claim)
	d.event.ID, d.event.Name = ipam.NewTimeID(d.event.At), d.claim // a request may detach from several claims, and each has its own event
	revision := ipam.NewID()
	_, err := usecase.RetryConflicts(func(int) (struct{}, error) {
		var none struct{}
		if d.id.IsZero() {
			c, attached, err := s.readAttached(ctx, in, d)
			if err != nil || !attached {
				return none, err
			}
			d.id = c.UID
		}
		release, err := s.Locks.Acquire(ctx, d.id)
		if err != nil {
			return none, err
		}
		defer release()
		c, attached, err := s.readAttached(ctx, in, d)
		if err != nil || !attached {
			return none, err
		}
		if err := d.request.IfMatch.Check(c.Revision); err != nil {
			return none, err
		}
		if c.Consumers == 1 && c.Spec.WhenUnused == ipam.UnusedDelete {
			return none, s.release(ctx, in, c, d)
		}
		return none, s.detachOnly(ctx, in, c, d, revision)
	})
	if ipam.IsCode(err, ipam.CodeNotFound) { // the claim was released meanwhile, so the consumer is detached
		return nil
	}
	return err
}

// readAttached reads a claim and reports whether a consumer is attached to it. It returns false only if the detachment that it has read is durable.
func (s *Consumers) readAttached(ctx context.Context, in storage.ProjectKey, d detachment) (c ipam.Claim, readAttached bool, err error) {
	err = s.Durably(ctx, func(ctx context.Context) (bool, error) {
		if c, readAttached, err = storage.IgnoreNotFound(s.Store.ClaimGet(ctx, in, d.claim)); err != nil || !readAttached {
			return true, err
		}
		if !d.id.IsZero() && d.id != c.UID {
			readAttached = false
			return true, nil
		}
		_, readAttached, err = storage.IgnoreNotFound(s.Store.AttachmentGet(ctx, c, d.because.Consumer))
		return !readAttached, err
	})
	return c, readAttached, err
}

// release detaches a claim's last consumer through an ordinary release.
func (s *Consumers) release(ctx context.Context, in storage.ProjectKey, c ipam.Claim, d detachment) error {
	var cooling time.Duration
	if d.because.Reason == ipam.ReasonExpired && c.ReclaimPolicy == ipam.ReclaimDelete {
		var err error
		if cooling, err = s.coolingLost(ctx, in, c); err != nil {
			return err
		}
	}
	return s.claims.ReleaseUnused(ctx, in, c, d.because, cooling, d.event, d.request)
}

// coolingLost returns the cool-down for a block after its last consumer is lost, which means that the consumer has expired. The block needs a
// cool-down, because the consumer may still exist and use it.
func (s *Consumers) coolingLost(ctx context.Context, in storage.ProjectKey, c ipam.Claim) (time.Duration, error) {
	if c.Class.IsZero() {
		return ipam.DefaultReuseLost, nil
	}
	if c.Class.Ref.Project != in.Name { // another project's shared class; the project may have a class with the same name
		in = storage.ProjectKey{Name: c.Class.Ref.Project}
	}
	found, err := s.Store.ClassesNamed(ctx, in, []string{c.Class.Ref.Name})
	for _, class := range found {
		if lost := class.Spec.ReuseAfterLost; class.UID == c.Class.ID && lost != nil {
			return *lost, err
		}
	}
	return ipam.DefaultReuseLost, err
}

// detachOnly detaches a consumer from a claim, and does not release the claim.
func (s *Consumers) detachOnly(ctx context.Context, in storage.ProjectKey, first ipam.Claim, d detachment, revision ipam.ID) error {
	locks := storage.Locks{Shared: []ipam.ID{in.ID}, Exclusive: []ipam.ID{first.UID}}
	_, err := usecase.RunWithReadBack(ctx, s.Core, "consumer_detach", locks, d.request.DryRun, func(ctx context.Context, tx storage.Tx) (none struct{}, err error) {
		was, err := tx.ClaimGet(ctx, in, d.claim)
		if err != nil {
			return none, err
		}
		if was.UID != first.UID || was.Consumers == 1 && was.Spec.WhenUnused == ipam.UnusedDelete {
			return none, &storage.Conflict{}
		}
		if err := d.request.IfMatch.Check(was.Revision); err != nil {
			return none, err
		}
		a, attached, err := storage.IgnoreNotFound(tx.AttachmentGet(ctx, was, d.because.Consumer))
		if err != nil || !attached {
			return none, err
		}
		next := withConsumers(was, was.Consumers-1, revision, tx.Now())
		e, err := trail.DetachEvent(d.event, &was, &next, d.because)
		if err != nil {
			return none, err
		}
		ch := storage.Changes{ClaimUpdate: &storage.ClaimUpdate{Was: was.Revision, Now: next}, Events: []ipam.Event{e}}
		ch.AttachmentDelete = []ipam.Attachment{a}
		return none, tx.Write(ctx, ch)
	}, func(ctx context.Context) (struct{}, bool, error) {
		_, attached, err := s.readAttached(ctx, in, d)
		return struct{}{}, !attached, err
	})
	return err
}
