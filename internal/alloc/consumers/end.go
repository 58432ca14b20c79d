package consumers

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carve-ipam/carve/internal/alloc/attach"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// These limits apply to the work that detaches an ended consumer from its claims. drainPage is the number of claims in one read. drainParallel is the
// number of concurrent transactions, each for one claim. drainLimit is the time that a request may spend on this work.
const (
	drainPage     = 64
	drainParallel = 8
	drainLimit    = 5 * time.Second
)

// EndConsumer ends a consumer for ever. A request that is still in transit cannot revive it. For an unknown UID, EndConsumer writes a tombstone, so
// that a late request cannot attach a consumer with this UID.
//
// EndConsumer detaches the consumer from its claims within a time limit. It returns the number of claims that remain for the background worker.
func (s *Consumers) EndConsumer(ctx context.Context, project string, ref ipam.ConsumerRef, r usecase.Request) (remaining int64, err error) {
	who, in, err := s.Enter(ctx, tenancy.ConsumersWrite, project)
	if err != nil {
		return 0, err
	}
	n := ipam.NewConsumer{Ref: ref}
	if err := n.Check("path:", "path:uid"); err != nil {
		return 0, err
	}
	if err := attach.CheckLimit(ctx, s.Core, in.ID, "path:uid", n); err != nil {
		return 0, err
	}
	made := ipam.Consumer{Metadata: s.NewMetadata(ipam.Metadata{Name: ref.UID}, in.Name, s.Region, who), ProjectID: in.ID, Realm: ref.Realm}
	event := trail.Attempt(ctx, made.CreatedAt, in.ID, trail.KindConsumer, ref.String())
	ended, err := s.end(ctx, in, made, event, r)
	if err != nil || r.DryRun || !ended.Draining {
		return 0, err
	}
	event.Kind = trail.KindClaim
	within, cancel := context.WithTimeout(ctx, drainLimit)
	defer cancel()
	if err := s.drain(within, in, ended, event); err == nil {
		return 0, s.recordDrained(ctx, []ipam.Consumer{ended})
	}
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), usecase.ReadBackLimit)
	defer cancel()
	return s.Store.AttachmentCount(ctx, in.ID, ref) // the background worker retries the claims that failed
}

// end writes a consumer's tombstone. It does not change a consumer that has already ended.
func (s *Consumers) end(ctx context.Context, in storage.ProjectKey, made ipam.Consumer, event ipam.Event, r usecase.Request) (ipam.Consumer, error) {
	ref := made.Ref()
	release, err := s.Locks.Acquire(ctx, lockOf(in, ref))
	if err != nil {
		return made, err
	}
	defer release()
	ended, err := usecase.RunWithReadBack(ctx, s.Core, "consumer_end", s.locks(in, ref), r.DryRun, func(ctx context.Context, tx storage.Tx) (ipam.Consumer, error) {
		was, found, err := storage.IgnoreNotFound(find(ctx, tx, in, ref))
		if err != nil {
			return was, err
		}
		if found && !was.Live() {
			return was, nil
		}
		if err := r.IfMatch.Check(was.Revision); err != nil {
			return was, err
		}
		at := tx.Now()
		next, ch := was, storage.Changes{}
		if !found {
			if err := usecase.CheckProjectExists(ctx, tx, in); err != nil {
				return made, err
			}
			next = made
			next.CreatedAt, next.RenewedAt = at, at
		}
		next = next.Ended(at, ipam.ReasonEnded)
		next.Revision, next.UpdatedAt = made.Revision, at
		if found {
			ch.ConsumerUpdate = []storage.ConsumerUpdate{{Was: was.Revision, Now: next}}
		} else {
			next.Draining = false // it has no attachments
			ch.ConsumerInsert = []ipam.Consumer{next}
		}
		e, err := attach.Recorded(event, wasThere(was, found), &next)
		ch.Events = []ipam.Event{e}
		if err != nil {
			return next, err
		}
		return next, tx.Write(ctx, ch)
	}, func(ctx context.Context) (ipam.Consumer, bool, error) {
		got, found, err := storage.IgnoreNotFound(find(ctx, s.Store, in, ref))
		return got, found && !got.Live(), err
	})
	if err == nil && !r.DryRun && ended.Revision == made.Revision { // otherwise the consumer had ended before
		s.Metrics.ConsumersEnded(ctx, ipam.ReasonEnded, 1)
	}
	return ended, err
}

func wasThere(c ipam.Consumer, found bool) *ipam.Consumer {
	if !found {
		return nil
	}
	return &c
}

// drain detaches an ended consumer from all its claims, with one transaction for each claim. event names the caller.
func (s *Consumers) drain(ctx context.Context, in storage.ProjectKey, c ipam.Consumer, event ipam.Event) error {
	for {
		list, err := s.Store.AttachmentListOf(ctx, in.ID, c.Ref(), drainPage)
		if err != nil || len(list) == 0 {
			return err
		}
		g, within := errgroup.WithContext(ctx)
		g.SetLimit(drainParallel)
		for _, a := range list {
			g.Go(func() error {
				return s.detach(within, in, detachment{claim: a.Claim, id: a.ClaimID, because: ipam.ReleaseCause{Reason: c.Reason, Consumer: c.Ref()}, event: event})
			})
		}
		if err := g.Wait(); err != nil {
			return err
		}
	}
}

// recordDrained records that some ended consumers have no attachments. An ended consumer cannot get new ones, so the record stays true.
func (s *Consumers) recordDrained(ctx context.Context, list []ipam.Consumer) error {
	if len(list) == 0 {
		return nil
	}
	shared := storage.Locks{Shared: []ipam.ID{list[0].ProjectID}}
	_, err := usecase.InTx(ctx, s.Core, "consumer_drained", shared, false, func(ctx context.Context, tx storage.Tx) (struct{}, error) {
		var ch storage.Changes
		refs := make(map[ipam.ID][]ipam.ConsumerRef)
		for _, c := range list {
			refs[c.ProjectID] = append(refs[c.ProjectID], c.Ref())
		}
		for project, of := range refs {
			found, err := tx.ConsumersNamed(ctx, project, of)
			if err != nil {
				return struct{}{}, err
			}
			for _, c := range found {
				if c.Draining { // otherwise another server was faster
					next := c
					next.Draining, next.Revision = false, ipam.DerivedID(c.Revision, "drained")
					ch.ConsumerUpdate = append(ch.ConsumerUpdate, storage.ConsumerUpdate{Was: c.Revision, Now: next})
				}
			}
		}
		return struct{}{}, tx.Write(ctx, ch)
	})
	return err
}
