package access

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/kind"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// Grants contains the use cases for grants on pools and spaces.
type Grants struct{ *usecase.Core }

// granting describes how grants on pools differ from grants on spaces.
type granting struct {
	kind string // in the audit trail
	op   string // prefix for the transactions' names
	of   func(ctx context.Context, read storage.Reader, in storage.ProjectKey, name string) (storage.GrantSubject, error)
}

var (
	poolGrants = granting{kind: trail.KindPoolGrant, op: "pool_grant", of: func(ctx context.Context, read storage.Reader, in storage.ProjectKey, name string) (storage.GrantSubject, error) {
		p, err := read.PoolGet(ctx, in, name)
		return storage.GrantsOfPool(p), err
	}}
	spaceGrants = granting{kind: trail.KindSpaceGrant, op: "space_grant", of: func(ctx context.Context, read storage.Reader, in storage.ProjectKey, name string) (storage.GrantSubject, error) {
		sp, err := read.SpaceGet(ctx, in, name)
		return storage.GrantsOfSpace(sp), err
	}}
)

// ListPoolGrants lists a pool's grants by consumer, which is the name of the project that may use the pool.
func (s *Grants) ListPoolGrants(ctx context.Context, project, pool string, limit int, cursor string, r usecase.Reading,
) (paging.Page[ipam.Grant], error) {
	return s.list(ctx, poolGrants, project, pool, limit, cursor, r)
}

// ListSpaceGrants lists a space's grants by consumer, which is the name of the project that may use the space.
func (s *Grants) ListSpaceGrants(ctx context.Context, project, space string, limit int, cursor string, r usecase.Reading,
) (paging.Page[ipam.Grant], error) {
	return s.list(ctx, spaceGrants, project, space, limit, cursor, r)
}

// GetPoolGrant reads a pool's grant to one consumer.
func (s *Grants) GetPoolGrant(ctx context.Context, project, pool, consumer string) (ipam.Grant, error) {
	return s.get(ctx, poolGrants, project, pool, consumer)
}

// GetSpaceGrant reads a space's grant to one consumer.
func (s *Grants) GetSpaceGrant(ctx context.Context, project, space, consumer string) (ipam.Grant, error) {
	return s.get(ctx, spaceGrants, project, space, consumer)
}

// PutPoolGrant grants a pool to a consumer, which is a project's name or ipam.Everybody. If the grant exists, PutPoolGrant returns it unchanged and
// sets Existed.
func (s *Grants) PutPoolGrant(ctx context.Context, project, pool, consumer string, r usecase.Request) (usecase.Result[ipam.Grant], error) {
	return s.put(ctx, poolGrants, project, pool, consumer, r)
}

// PutSpaceGrant grants a space to a consumer, which is a project's name or ipam.Everybody. If the grant exists, PutSpaceGrant returns it unchanged
// and sets Existed.
func (s *Grants) PutSpaceGrant(ctx context.Context, project, space, consumer string, r usecase.Request) (usecase.Result[ipam.Grant], error) {
	return s.put(ctx, spaceGrants, project, space, consumer, r)
}

// DeletePoolGrant revokes a pool's grant. Claims that used the grant stay.
func (s *Grants) DeletePoolGrant(ctx context.Context, project, pool, consumer string, r usecase.Request) error {
	return s.remove(ctx, poolGrants, project, pool, consumer, r)
}

// DeleteSpaceGrant revokes a space's grant. Root pools that used the grant stay.
func (s *Grants) DeleteSpaceGrant(ctx context.Context, project, space, consumer string, r usecase.Request) error {
	return s.remove(ctx, spaceGrants, project, space, consumer, r)
}

// grants returns the kind.Kind that describes the grants on one pool or space.
func (s *Grants) grants(g granting, name string, of storage.GrantSubject) kind.Kind[ipam.Grant] {
	return kind.Kind[ipam.Grant]{
		Core: s.Core, Name: g.kind, Op: g.op, RecordedAs: name,
		Head: func(g *ipam.Grant) *ipam.Metadata { return &g.Metadata }, Valid: ipam.ValidConsumer,
		Find: func(read storage.Reader) kind.Finder[ipam.Grant] {
			return func(ctx context.Context, in storage.ProjectKey, consumer string) (ipam.Grant, error) {
				return read.GrantGet(ctx, in, of, consumer)
			}
		},
		Write:    func(ch *storage.Changes, was, now *ipam.Grant) { ch.GrantInsert, ch.GrantDelete = now, was },
		Record:   recordedGrant,
		SameSpec: func(_, _ ipam.Grant) bool { return true }, // a grant has no fields that can change
	}
}

// enter authorizes the caller and finds the granted pool or space.
func (s *Grants) enter(ctx context.Context, read storage.Reader, g granting, action tenancy.Action, project, name string,
) (storage.ProjectKey, storage.GrantSubject, error) {
	_, in, err := s.Enter(ctx, action, project)
	if err != nil {
		return in, storage.GrantSubject{}, err
	}
	of, err := g.of(ctx, read, in, name)
	return in, of, err
}

func (s *Grants) list(ctx context.Context, g granting, project, name string, limit int, cursor string, r usecase.Reading,
) (paging.Page[ipam.Grant], error) {
	in, of, err := s.enter(ctx, s.View(r), g, tenancy.GrantsRead, project, name)
	if err != nil {
		return paging.Page[ipam.Grant]{}, err
	}
	rows := func(read storage.Reader, ctx context.Context, in storage.ProjectKey, after string, n int) ([]ipam.Grant, error) {
		return read.GrantList(ctx, in, of, after, n)
	}
	return s.grants(g, name, of).Page(ctx, in, paging.ListOf(string(of.Kind)+"-grants", of.ID), rows, usecase.Everything[ipam.Grant], limit, cursor, r)
}

func (s *Grants) get(ctx context.Context, g granting, project, name, consumer string) (ipam.Grant, error) {
	in, of, err := s.enter(ctx, s.Store, g, tenancy.GrantsRead, project, name)
	if err != nil {
		return ipam.Grant{}, err
	}
	return s.Store.GrantGet(ctx, in, of, consumer)
}

func (s *Grants) put(ctx context.Context, g granting, project, name, consumer string, r usecase.Request) (usecase.Result[ipam.Grant], error) {
	none := usecase.Result[ipam.Grant]{}
	who, in, err := s.Enter(ctx, tenancy.GrantsWrite, project)
	if err != nil {
		return none, err
	}
	switch {
	case !ipam.ValidConsumer(consumer):
		return none, ipam.Invalid("path:consumer", "must be the name of a project, or * for all.")
	case consumer == project:
		return none, ipam.Invalid("path:consumer", "is the project of the owner, which needs no grant.")
	}
	of, err := g.of(ctx, s.Store, in, name)
	if err != nil {
		return none, err
	}
	made := ipam.Grant{Metadata: s.NewMetadata(ipam.Metadata{Name: consumer}, project, "", who), Kind: of.Kind, SubjectID: of.ID}
	grants, granted := s.grants(g, name, of), error(nil)
	grants.Find = func(read storage.Reader) kind.Finder[ipam.Grant] {
		return func(ctx context.Context, in storage.ProjectKey, consumer string) (ipam.Grant, error) {
			now, err := g.of(ctx, read, in, name)
			if err == nil {
				err = storage.SameThing(of.ID, now.ID)
			}
			if granted = err; err != nil {
				return ipam.Grant{}, err
			}
			return read.GrantGet(ctx, in, now, consumer)
		}
	}
	locks := storage.Locks{Shared: []ipam.ID{of.ID}} // so that no other transaction deletes the pool or space meanwhile
	same := func(was ipam.Grant) ipam.Grant { return was }
	result, err := grants.Put(ctx, in, made, r, locks, same, func(context.Context, storage.Tx, *ipam.Grant, *ipam.Grant) (storage.Changes, error) {
		return storage.Changes{}, granted // if the pool or space was not found, fail with that error
	})
	if granted != nil && ipam.IsCode(err, ipam.CodePreconditionFailed) {
		return none, granted
	}
	return result, err
}

func (s *Grants) remove(ctx context.Context, g granting, project, name, consumer string, r usecase.Request) error {
	in, of, err := s.enter(ctx, s.Store, g, tenancy.GrantsWrite, project, name)
	if err != nil {
		return err
	}
	// A shared lock suffices, because this transaction does not change the pool or space.
	locks := func(ipam.Grant) (storage.Locks, error) { return storage.Locks{Shared: []ipam.ID{of.ID}}, nil }
	return s.grants(g, name, of).Delete(ctx, in, consumer, r, locks, nil)
}

// recordedGrant returns the event record for a grant. It has the consumer only, because the event already names the pool or space.
func recordedGrant(g ipam.Grant) *trail.Record {
	return &trail.Record{Spec: struct {
		Consumer string `json:"consumer"`
	}{g.Name}}
}
