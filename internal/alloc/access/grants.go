package access

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// granting is what pools and spaces do differently when they are granted.
type granting struct {
	kind string // in the trail
	op   string // prefix of the transactions' names
	of   func(ctx context.Context, read storage.Reader, key storage.ProjectKey, name string) (storage.GrantSubject, error)
}

var (
	poolGrants = granting{kind: trail.KindPoolGrant, op: "pool_grant", of: func(ctx context.Context, read storage.Reader, key storage.ProjectKey, name string) (storage.GrantSubject, error) {
		p, err := read.PoolGet(ctx, key, name)
		return storage.GrantsOfPool(p), err
	}}
	spaceGrants = granting{kind: trail.KindSpaceGrant, op: "space_grant", of: func(ctx context.Context, read storage.Reader, key storage.ProjectKey, name string) (storage.GrantSubject, error) {
		sp, err := read.SpaceGet(ctx, key, name)
		return storage.GrantsOfSpace(sp), err
	}}
)

// ListPoolGrants lists to whom a pool is granted, by consumer.
func (s *Access) ListPoolGrants(ctx context.Context, project, pool string, limit int, cursor string) (paging.Page[ipam.Grant], error) {
	return s.listGrants(ctx, poolGrants, project, pool, limit, cursor)
}

// ListSpaceGrants lists to whom a space is granted, by consumer.
func (s *Access) ListSpaceGrants(ctx context.Context, project, space string, limit int, cursor string) (paging.Page[ipam.Grant], error) {
	return s.listGrants(ctx, spaceGrants, project, space, limit, cursor)
}

// GetPoolGrant reads the grant of a pool to one consumer.
func (s *Access) GetPoolGrant(ctx context.Context, project, pool, consumer string) (ipam.Grant, error) {
	return s.getGrant(ctx, poolGrants, project, pool, consumer)
}

// GetSpaceGrant reads the grant of a space to one consumer.
func (s *Access) GetSpaceGrant(ctx context.Context, project, space, consumer string) (ipam.Grant, error) {
	return s.getGrant(ctx, spaceGrants, project, space, consumer)
}

// PutPoolGrant grants a pool to a consumer: a project's name, or ipam.Everybody. A grant that exists is answered (Existed).
func (s *Access) PutPoolGrant(ctx context.Context, project, pool, consumer string, r usecase.Request) (usecase.Result[ipam.Grant], error) {
	return s.putGrant(ctx, poolGrants, project, pool, consumer, r)
}

// PutSpaceGrant grants a space to a consumer: a project's name, or ipam.Everybody. A grant that exists is answered (Existed).
func (s *Access) PutSpaceGrant(ctx context.Context, project, space, consumer string, r usecase.Request) (usecase.Result[ipam.Grant], error) {
	return s.putGrant(ctx, spaceGrants, project, space, consumer, r)
}

// DeletePoolGrant takes the grant of a pool back. What was claimed under it stays.
func (s *Access) DeletePoolGrant(ctx context.Context, project, pool, consumer string, r usecase.Request) error {
	return s.deleteGrant(ctx, poolGrants, project, pool, consumer, r)
}

// DeleteSpaceGrant takes the grant of a space back. Root pools that were carved under it stay.
func (s *Access) DeleteSpaceGrant(ctx context.Context, project, space, consumer string, r usecase.Request) error {
	return s.deleteGrant(ctx, spaceGrants, project, space, consumer, r)
}

// consumerPlace is a place in a list of grants: the last consumer.
type consumerPlace string

func (s *Access) listGrants(ctx context.Context, g granting, project, name string, limit int, cursor string) (paging.Page[ipam.Grant], error) {
	none := paging.Page[ipam.Grant]{}
	_, key, err := s.Enter(ctx, tenancy.GrantsRead, project)
	if err != nil {
		return none, err
	}
	of, err := g.of(ctx, s.Store, key, name)
	if err != nil {
		return none, err
	}
	return paging.Scan(ctx, s.Searching, paging.ListOf(string(of.Kind)+"-grants", of.ID), cursor, limit, func(after consumerPlace, n int) ([]ipam.Grant, error) {
		if after != "" && !ipam.ValidConsumer(string(after)) {
			return nil, paging.ErrBadCursor()
		}
		return s.Store.GrantList(ctx, key, of, string(after), n)
	}, usecase.Everything[ipam.Grant], func(made ipam.Grant) consumerPlace { return consumerPlace(made.Name) })
}

func (s *Access) getGrant(ctx context.Context, g granting, project, name, consumer string) (ipam.Grant, error) {
	_, key, err := s.Enter(ctx, tenancy.GrantsRead, project)
	if err != nil {
		return ipam.Grant{}, err
	}
	of, err := g.of(ctx, s.Store, key, name)
	if err != nil {
		return ipam.Grant{}, err
	}
	return s.Store.GrantGet(ctx, key, of, consumer)
}

func (s *Access) putGrant(ctx context.Context, g granting, project, name, consumer string, r usecase.Request) (usecase.Result[ipam.Grant], error) {
	none := usecase.Result[ipam.Grant]{}
	who, key, err := s.Enter(ctx, tenancy.GrantsWrite, project)
	if err != nil {
		return none, err
	}
	switch {
	case !ipam.ValidConsumer(consumer):
		return none, ipam.Invalid("path:consumer", "must be the name of a project, or * for all.")
	case consumer == project:
		return none, ipam.Invalid("path:consumer", "is the project that owns it, which needs no grant.")
	}
	made := ipam.Grant{Metadata: s.Fresh(ipam.Metadata{Name: consumer}, project, "", who)}
	locked, err := g.of(ctx, s.Store, key, name)
	if err != nil {
		return none, err
	}
	locks := storage.Locks{Shared: []ipam.ID{locked.ID}} // it is not deleted meanwhile
	return usecase.Settled(ctx, s.Core, g.op+"_put", locks, r.DryRun, func(ctx context.Context, tx storage.Tx) (usecase.Result[ipam.Grant], error) {
		of, err := g.of(ctx, tx, key, name)
		if err != nil {
			return none, err
		}
		if err := storage.Moved(locked.ID, of.ID); err != nil {
			return none, err
		}
		was, found, err := storage.IgnoreNotFound(tx.GrantGet(ctx, key, of, consumer))
		if err != nil {
			return none, err
		}
		if found && was.UID == made.UID { // by an earlier COMMIT of ours whose outcome was unknown
			return usecase.Result[ipam.Grant]{Value: was}, nil
		}
		if err := r.CheckPut(found, was.Revision); err != nil {
			return none, err
		}
		if found {
			return usecase.Result[ipam.Grant]{Value: was, Existed: true}, nil
		}
		grant := made
		grant.Kind, grant.SubjectID = of.Kind, of.ID
		event, err := trail.Changed(ctx, grant.CreatedAt, key.ID, g.kind, name, nil, recordedGrant(grant))
		if err != nil {
			return none, err
		}
		err = tx.Write(ctx, storage.Changes{AccessChanges: storage.AccessChanges{GrantInsert: &grant}, Events: []ipam.Event{event}})
		return usecase.Result[ipam.Grant]{Value: grant}, err
	}, func(ctx context.Context) (usecase.Result[ipam.Grant], bool, error) {
		of, found, err := storage.IgnoreNotFound(g.of(ctx, s.Store, key, name))
		if err != nil || !found {
			return none, false, err
		}
		got, found, err := storage.IgnoreNotFound(s.Store.GrantGet(ctx, key, of, consumer))
		return usecase.Result[ipam.Grant]{Value: got}, found && got.UID == made.UID, err
	})
}

func (s *Access) deleteGrant(ctx context.Context, g granting, project, name, consumer string, r usecase.Request) error {
	_, key, err := s.Enter(ctx, tenancy.GrantsWrite, project)
	if err != nil {
		return err
	}
	of, err := g.of(ctx, s.Store, key, name)
	if err != nil {
		return err
	}
	first, err := s.Store.GrantGet(ctx, key, of, consumer)
	if err != nil {
		return err
	}
	now := s.Now()
	_, err = usecase.Settled(ctx, s.Core, g.op+"_delete", storage.Locks{}, r.DryRun, func(ctx context.Context, tx storage.Tx) (struct{}, error) {
		var none struct{}
		grant, err := tx.GrantGet(ctx, key, of, consumer)
		if err != nil {
			return none, err
		}
		if err := r.IfMatch.Check(grant.Revision); err != nil {
			return none, err
		}
		event, err := trail.Changed(ctx, now, key.ID, g.kind, name, recordedGrant(grant), nil)
		if err != nil {
			return none, err
		}
		return none, tx.Write(ctx, storage.Changes{AccessChanges: storage.AccessChanges{GrantDelete: &grant}, Events: []ipam.Event{event}})
	}, func(ctx context.Context) (struct{}, bool, error) {
		got, found, err := storage.IgnoreNotFound(s.Store.GrantGet(ctx, key, of, consumer))
		return struct{}{}, !found || got.UID != first.UID, err
	})
	return err
}

// recordedGrant is the record of a grant, under the name of what was granted: the consumer is all that it says.
func recordedGrant(g ipam.Grant) *trail.Record {
	return &trail.Record{Spec: struct {
		Consumer string `json:"consumer"`
	}{g.Name}}
}
