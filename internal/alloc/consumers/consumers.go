package consumers

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/attach"
	"github.com/carve-ipam/carve/internal/alloc/kind"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// kindOf returns the kind.Kind that describes the consumers in a realm.
func (s *Consumers) kindOf(realm string) kind.Kind[ipam.Consumer] {
	return kind.Kind[ipam.Consumer]{
		Core: s.Core, Name: trail.KindConsumer, Op: "consumer", Reads: tenancy.ConsumersRead, Writes: tenancy.ConsumersWrite,
		Head:  func(c *ipam.Consumer) *ipam.Metadata { return &c.Metadata },
		Valid: ipam.ValidConsumerUID,
		Find: func(read storage.Reader) kind.Finder[ipam.Consumer] {
			return func(ctx context.Context, in storage.ProjectKey, uid string) (ipam.Consumer, error) {
				return find(ctx, read, in, ipam.ConsumerRef{Realm: realm, UID: uid})
			}
		},
	}
}

func find(ctx context.Context, read storage.Reader, in storage.ProjectKey, ref ipam.ConsumerRef) (ipam.Consumer, error) {
	found, err := read.ConsumersNamed(ctx, in.ID, []ipam.ConsumerRef{ref})
	if err != nil {
		return ipam.Consumer{}, err
	}
	if len(found) == 0 {
		return ipam.Consumer{}, ipam.Errorf(ipam.CodeNotFound, "Consumer %s was not found in project %s.", ref, in.Name)
	}
	c := found[0]
	c.Project = in.Name
	return c, nil
}

// Filter selects live or ended consumers. The zero Filter selects all.
type Filter struct{ Live, Ended bool }

// ListConsumers lists a realm's consumers by UID. The list includes the tombstones of ended consumers.
func (s *Consumers) ListConsumers(ctx context.Context, project, realm string, f Filter, limit int, cursor string, r usecase.Reading) (paging.Page[ipam.Consumer], error) {
	_, in, err := s.Enter(ctx, tenancy.ConsumersRead, project)
	if err != nil {
		return paging.Page[ipam.Consumer]{}, err
	}
	rows := func(read storage.Reader, ctx context.Context, in storage.ProjectKey, after string, limit int) ([]ipam.Consumer, error) {
		return read.ConsumerList(ctx, in, realm, after, limit)
	}
	match := func(c *ipam.Consumer) bool { return c.Live() && !f.Ended || !c.Live() && !f.Live }
	return s.kindOf(realm).Page(ctx, in, paging.ListOf("consumers", in.ID, realm, f), rows, match, limit, cursor, r)
}

// GetConsumer reads one consumer, or an ended consumer's tombstone.
func (s *Consumers) GetConsumer(ctx context.Context, project string, ref ipam.ConsumerRef) (ipam.Consumer, error) {
	return s.kindOf(ref.Realm).Get(ctx, project, ref.UID)
}

// PutConsumer creates a consumer. If the consumer exists, PutConsumer replaces its spec, renews it, and sets Existed in the result. It refuses a
// consumer that has ended.
func (s *Consumers) PutConsumer(ctx context.Context, project string, n ipam.NewConsumer, r usecase.Request) (usecase.Result[ipam.Consumer], error) {
	none := usecase.Result[ipam.Consumer]{}
	who, in, err := s.Enter(ctx, tenancy.ConsumersWrite, project)
	if err != nil {
		return none, err
	}
	if err := n.Check("/spec", "path:uid"); err != nil {
		return none, err
	}
	if err := attach.CheckLimit(ctx, s.Core, in.ID, "path:uid", n); err != nil {
		return none, err
	}
	made := ipam.Consumer{Metadata: s.NewMetadata(ipam.Metadata{Name: n.Ref.UID}, in.Name, s.Region, who), ProjectID: in.ID, Realm: n.Ref.Realm, Spec: n.Spec}
	event := trail.Attempt(ctx, made.CreatedAt, in.ID, trail.KindConsumer, n.Ref.String())
	release, err := s.Locks.Acquire(ctx, lockOf(in, n.Ref))
	if err != nil {
		return none, err
	}
	defer release()
	return usecase.RunWithReadBack(ctx, s.Core, "consumer_put", s.locks(in, n.Ref), r.DryRun, func(ctx context.Context, tx storage.Tx) (usecase.Result[ipam.Consumer], error) {
		was, found, err := storage.IgnoreNotFound(find(ctx, tx, in, n.Ref))
		if err != nil {
			return none, err
		}
		if found && !was.Live() {
			return none, attach.Ended(was)
		}
		if was.Revision != made.Revision { // otherwise this request's earlier attempt, with an indeterminate COMMIT, wrote it
			if err := r.CheckPut(found, was.Revision); err != nil {
				return none, err
			}
		}
		next, ch, err := putChanges(was, found, made, event, tx.Now())
		if err != nil {
			return none, err
		}
		if !found {
			if err := usecase.CheckProjectExists(ctx, tx, in); err != nil {
				return none, err
			}
		}
		return usecase.Result[ipam.Consumer]{Value: next, Existed: found && was.UID != made.UID}, tx.Write(ctx, ch)
	}, func(ctx context.Context) (usecase.Result[ipam.Consumer], bool, error) {
		got, found, err := storage.IgnoreNotFound(find(ctx, s.Store, in, n.Ref))
		return usecase.Result[ipam.Consumer]{Value: got, Existed: got.UID != made.UID}, found && got.Revision == made.Revision, err
	})
}

// putChanges returns the changes that create or renew a consumer. The trail records a change to the spec, but not a renewal.
func putChanges(was ipam.Consumer, found bool, made ipam.Consumer, event ipam.Event, at usecase.Timestamp) (next ipam.Consumer, ch storage.Changes, err error) {
	if !found {
		made.CreatedAt, made.UpdatedAt = at, at
		next = made.Renewed(at)
		ch.ConsumerInsert = []ipam.Consumer{next}
		e, err := attach.Recorded(event, nil, &next)
		ch.Events = []ipam.Event{e}
		return next, ch, err
	}
	next = was
	next.Spec, next.Revision = made.Spec, made.Revision
	if next.Spec != was.Spec {
		next.Generation, next.UpdatedAt = was.Generation+1, at
		e, err := attach.Recorded(event, &was, &next)
		if err != nil {
			return next, ch, err
		}
		ch.Events = []ipam.Event{e}
	}
	next = next.Renewed(at)
	ch.ConsumerUpdate = []storage.ConsumerUpdate{{Was: was.Revision, Now: next}}
	return next, ch, nil
}

func (s *Consumers) locks(in storage.ProjectKey, ref ipam.ConsumerRef) storage.Locks {
	return storage.Locks{Shared: []ipam.ID{in.ID}, Exclusive: []ipam.ID{lockOf(in, ref)}}
}
