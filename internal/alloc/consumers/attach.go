package consumers

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/attach"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// AttachConsumer attaches a consumer to a claim and renews the consumer. If the consumer does not exist, AttachConsumer creates it. It returns the
// claim, and sets Existed if the consumer was already attached.
func (s *Consumers) AttachConsumer(ctx context.Context, project, claim string, n ipam.NewConsumer, r usecase.Request) (usecase.Result[ipam.Claim], error) {
	none := usecase.Result[ipam.Claim]{}
	_, in, err := s.Enter(ctx, tenancy.ConsumersWrite, project)
	if err != nil {
		return none, err
	}
	if err := n.Check("", "path:uid"); err != nil {
		return none, err
	}
	if err := attach.CheckLimit(ctx, s.Core, in.ID, "path:uid", n); err != nil {
		return none, err
	}
	a := attaching{Consumers: s, in: in, n: n, request: r, revision: ipam.NewID(), event: trail.Attempt(ctx, s.Now(), in.ID, trail.KindClaim, claim)}
	defer s.claims.ForgetClaim(in, claim)
	return usecase.RetryConflicts(func(int) (usecase.Result[ipam.Claim], error) {
		first, err := s.Store.ClaimGet(ctx, in, claim)
		if err != nil {
			return none, err
		}
		release, err := s.Locks.Acquire(ctx, first.UID, lockOf(in, n.Ref))
		if err != nil {
			return none, err
		}
		defer release()
		locks := s.locks(in, n.Ref)
		locks.Exclusive = append(locks.Exclusive, first.UID)
		return usecase.RunWithReadBack(ctx, s.Core, "consumer_attach", locks, r.DryRun, func(ctx context.Context, tx storage.Tx) (usecase.Result[ipam.Claim], error) {
			return a.try(ctx, tx, first)
		}, func(ctx context.Context) (usecase.Result[ipam.Claim], bool, error) {
			got, found, err := storage.IgnoreNotFound(s.Store.ClaimGet(ctx, in, claim))
			if err != nil || !found {
				return none, false, err
			}
			_, attached, err := storage.IgnoreNotFound(s.Store.AttachmentGet(ctx, got, n.Ref))
			return usecase.Result[ipam.Claim]{Value: got, Existed: got.Revision != a.revision}, attached && got.UID == first.UID, err
		})
	})
}

type attaching struct {
	*Consumers

	in       storage.ProjectKey
	n        ipam.NewConsumer
	request  usecase.Request
	revision ipam.ID    // the claim's new revision
	event    ipam.Event // names the caller
}

func (a *attaching) try(ctx context.Context, tx storage.Tx, first ipam.Claim) (usecase.Result[ipam.Claim], error) {
	none := usecase.Result[ipam.Claim]{}
	was, err := tx.ClaimGet(ctx, a.in, first.Name)
	if err != nil {
		return none, err
	}
	if was.UID != first.UID {
		return none, &storage.Conflict{}
	}
	if err := a.request.IfMatch.Check(was.Revision); err != nil {
		return none, err
	}
	_, attached, err := storage.IgnoreNotFound(tx.AttachmentGet(ctx, was, a.n.Ref))
	if err != nil {
		return none, err
	}
	wanted := []ipam.NewConsumer{a.n}
	var users attach.Users
	if err := users.ReadAdmitted(ctx, tx, a.in.ID, wanted); err != nil {
		return none, err
	}
	if attached {
		if err := (usecase.Request{CreateOnly: a.request.CreateOnly}).CheckPut(true, was.Revision); err != nil {
			return none, err
		}
		return usecase.Result[ipam.Claim]{Value: was, Existed: true}, a.renewAttached(ctx, tx)
	}
	if limit := was.Spec.MostConsumers(); was.Consumers >= limit {
		e := ipam.Errorf(ipam.CodeTooManyConsumers, "Claim %s is used by %s, and its maxConsumers is %d. Detach one first, or make a claim with a larger maxConsumers.",
			was.Ref(), usecase.CountOf(int64(was.Consumers), "consumer"), limit)
		e.Figures.Consumers = new(int64(was.Consumers))
		return none, e
	}
	next := withConsumers(was, was.Consumers+1, a.revision, tx.Now())
	e, err := trail.AttachEvent(a.event, &was, &next, wanted)
	if err != nil {
		return none, err
	}
	ch := storage.Changes{ClaimUpdate: &storage.ClaimUpdate{Was: was.Revision, Now: next}, Events: []ipam.Event{e}}
	users.Attach(&next, wanted, attach.Details{Project: a.in, Region: a.Region, Event: a.event, At: tx.Now()})
	if err := users.AddTo(&ch); err != nil {
		return none, err
	}
	return usecase.Result[ipam.Claim]{Value: next}, tx.Write(ctx, ch)
}

// renewAttached renews a consumer that is already attached.
func (a *attaching) renewAttached(ctx context.Context, tx storage.Tx) error {
	c, err := find(ctx, tx, a.in, a.n.Ref)
	if err != nil {
		return err
	}
	next := c.Renewed(tx.Now())
	next.Revision = ipam.DerivedID(a.revision, "renewed")
	return tx.Write(ctx, storage.Changes{ConsumerChanges: storage.ConsumerChanges{
		ConsumerUpdate: []storage.ConsumerUpdate{{Was: c.Revision, Now: next}},
	}})
}

// withConsumers returns the claim with a new number of consumers and a new revision. The allocation keeps its revision, because it does not show the
// number.
func withConsumers(was ipam.Claim, consumers int, revision ipam.ID, at usecase.Timestamp) ipam.Claim {
	next := was
	next.Consumers = consumers
	next.Allocated.Revision = was.Allocation().Revision
	usecase.Touch(&next.Metadata, was.Metadata, false, revision, at)
	return next
}

// ListClaimConsumers lists a claim's consumers by realm and UID.
func (s *Consumers) ListClaimConsumers(ctx context.Context, project, claim string, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Attachment], error) {
	none := paging.Page[ipam.Attachment]{}
	_, in, err := s.Enter(ctx, tenancy.ConsumersRead, project)
	if err != nil {
		return none, err
	}
	read := s.View(r)
	c, err := read.ClaimGet(ctx, in, claim)
	if err != nil {
		return none, err
	}
	return paging.Scan(ctx, s.Searching, paging.ListOf("claim-consumers", in.ID, c.UID), cursor, limit, func(after ipam.ConsumerRef, n int) ([]ipam.Attachment, error) {
		return read.AttachmentList(ctx, c, after, n)
	}, usecase.Everything[ipam.Attachment], func(a ipam.Attachment) ipam.ConsumerRef { return a.Consumer })
}
