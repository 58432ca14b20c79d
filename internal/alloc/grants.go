package alloc

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// granting is what pools and spaces do differently when they are granted.
type granting struct {
	kind string // in the trail
	op   string // prefix of the transactions' names
	of   func(ctx context.Context, read Reader, key ProjectKey, name string) (GrantSubject, error)
}

var (
	poolGrants = granting{kind: kindPoolGrant, op: "pool_grant", of: func(ctx context.Context, read Reader, key ProjectKey, name string) (GrantSubject, error) {
		p, err := read.PoolGet(ctx, key, name)
		return grantsOfPool(p), err
	}}
	spaceGrants = granting{kind: kindSpaceGrant, op: "space_grant", of: func(ctx context.Context, read Reader, key ProjectKey, name string) (GrantSubject, error) {
		sp, err := read.SpaceGet(ctx, key, name)
		return grantsOfSpace(sp), err
	}}
)

func grantsOfPool(p ipam.Pool) GrantSubject {
	return GrantSubject{Kind: ipam.GrantOfPool, ID: p.UID, Name: p.Name}
}

func grantsOfSpace(sp ipam.Space) GrantSubject {
	return GrantSubject{Kind: ipam.GrantOfSpace, ID: sp.UID, Name: sp.Name}
}

// ListPoolGrants lists to whom a pool is granted, by consumer.
func (s *Service) ListPoolGrants(ctx context.Context, project, pool string, limit int, cursor string) (Page[ipam.Grant], error) {
	return s.listGrants(ctx, poolGrants, project, pool, limit, cursor)
}

// ListSpaceGrants lists to whom a space is granted, by consumer.
func (s *Service) ListSpaceGrants(ctx context.Context, project, space string, limit int, cursor string) (Page[ipam.Grant], error) {
	return s.listGrants(ctx, spaceGrants, project, space, limit, cursor)
}

// GetPoolGrant reads the grant of a pool to one consumer.
func (s *Service) GetPoolGrant(ctx context.Context, project, pool, consumer string) (ipam.Grant, error) {
	return s.getGrant(ctx, poolGrants, project, pool, consumer)
}

// GetSpaceGrant reads the grant of a space to one consumer.
func (s *Service) GetSpaceGrant(ctx context.Context, project, space, consumer string) (ipam.Grant, error) {
	return s.getGrant(ctx, spaceGrants, project, space, consumer)
}

// PutPoolGrant grants a pool to a consumer: a project's name, or ipam.Everybody. A grant that exists is answered (Existed).
func (s *Service) PutPoolGrant(ctx context.Context, project, pool, consumer string, r Request) (Result[ipam.Grant], error) {
	return s.putGrant(ctx, poolGrants, project, pool, consumer, r)
}

// PutSpaceGrant grants a space to a consumer: a project's name, or ipam.Everybody. A grant that exists is answered (Existed).
func (s *Service) PutSpaceGrant(ctx context.Context, project, space, consumer string, r Request) (Result[ipam.Grant], error) {
	return s.putGrant(ctx, spaceGrants, project, space, consumer, r)
}

// DeletePoolGrant takes the grant of a pool back. What was claimed under it stays.
func (s *Service) DeletePoolGrant(ctx context.Context, project, pool, consumer string, r Request) error {
	return s.deleteGrant(ctx, poolGrants, project, pool, consumer, r)
}

// DeleteSpaceGrant takes the grant of a space back. Root pools that were carved under it stay.
func (s *Service) DeleteSpaceGrant(ctx context.Context, project, space, consumer string, r Request) error {
	return s.deleteGrant(ctx, spaceGrants, project, space, consumer, r)
}

// consumerPlace is a place in a list of grants: the last consumer.
type consumerPlace string

func (s *Service) listGrants(ctx context.Context, g granting, project, name string, limit int, cursor string) (Page[ipam.Grant], error) {
	none := Page[ipam.Grant]{}
	_, key, err := s.enter(ctx, tenancy.GrantsRead, project)
	if err != nil {
		return none, err
	}
	of, err := g.of(ctx, s.store, key, name)
	if err != nil {
		return none, err
	}
	return scan(ctx, s.searching, listOf(string(of.Kind)+"-grants", of.ID), cursor, limit, func(after consumerPlace, n int) ([]ipam.Grant, error) {
		if after != "" && !ipam.ValidConsumer(string(after)) {
			return nil, errBadCursor()
		}
		return s.store.GrantList(ctx, key, of, string(after), n)
	}, everything[ipam.Grant], func(made ipam.Grant) consumerPlace { return consumerPlace(made.Name) })
}

func (s *Service) getGrant(ctx context.Context, g granting, project, name, consumer string) (ipam.Grant, error) {
	_, key, err := s.enter(ctx, tenancy.GrantsRead, project)
	if err != nil {
		return ipam.Grant{}, err
	}
	of, err := g.of(ctx, s.store, key, name)
	if err != nil {
		return ipam.Grant{}, err
	}
	return s.store.GrantGet(ctx, key, of, consumer)
}

func (s *Service) putGrant(ctx context.Context, g granting, project, name, consumer string, r Request) (Result[ipam.Grant], error) {
	none := Result[ipam.Grant]{}
	who, key, err := s.enter(ctx, tenancy.GrantsWrite, project)
	if err != nil {
		return none, err
	}
	switch {
	case !ipam.ValidConsumer(consumer):
		return none, ipam.Invalid("path:consumer", "must be the name of a project, or * for all.")
	case consumer == project:
		return none, ipam.Invalid("path:consumer", "is the project that owns it, which needs no grant.")
	}
	made := ipam.Grant{Metadata: s.fresh(ipam.Metadata{Name: consumer}, project, "", who)}
	locked, err := g.of(ctx, s.store, key, name)
	if err != nil {
		return none, err
	}
	locks := Locks{Shared: []ipam.ID{locked.ID}} // it is not deleted meanwhile
	return settled(ctx, s, g.op+"_put", locks, r.DryRun, func(ctx context.Context, tx Tx) (Result[ipam.Grant], error) {
		of, err := g.of(ctx, tx, key, name)
		if err != nil {
			return none, err
		}
		if err := moved(locked.ID, of.ID); err != nil {
			return none, err
		}
		was, found, err := ignoreNotFound(tx.GrantGet(ctx, key, of, consumer))
		if err != nil {
			return none, err
		}
		if found && was.UID == made.UID { // by an earlier COMMIT of ours whose outcome was unknown
			return Result[ipam.Grant]{Value: was}, nil
		}
		if err := r.checkPut(found, was.Revision); err != nil {
			return none, err
		}
		if found {
			return Result[ipam.Grant]{Value: was, Existed: true}, nil
		}
		grant := made
		grant.Kind, grant.SubjectID = of.Kind, of.ID
		event, err := changed(ctx, grant.CreatedAt, key.ID, g.kind, name, nil, recordedGrant(grant))
		if err != nil {
			return none, err
		}
		err = tx.Write(ctx, Changes{AccessChanges: AccessChanges{GrantInsert: &grant}, Events: []ipam.Event{event}})
		return Result[ipam.Grant]{Value: grant}, err
	}, func(ctx context.Context) (Result[ipam.Grant], bool, error) {
		of, found, err := ignoreNotFound(g.of(ctx, s.store, key, name))
		if err != nil || !found {
			return none, false, err
		}
		got, found, err := ignoreNotFound(s.store.GrantGet(ctx, key, of, consumer))
		return Result[ipam.Grant]{Value: got}, found && got.UID == made.UID, err
	})
}

func (s *Service) deleteGrant(ctx context.Context, g granting, project, name, consumer string, r Request) error {
	_, key, err := s.enter(ctx, tenancy.GrantsWrite, project)
	if err != nil {
		return err
	}
	of, err := g.of(ctx, s.store, key, name)
	if err != nil {
		return err
	}
	first, err := s.store.GrantGet(ctx, key, of, consumer)
	if err != nil {
		return err
	}
	now := s.now()
	_, err = settled(ctx, s, g.op+"_delete", Locks{}, r.DryRun, func(ctx context.Context, tx Tx) (struct{}, error) {
		var none struct{}
		grant, err := tx.GrantGet(ctx, key, of, consumer)
		if err != nil {
			return none, err
		}
		if err := r.IfMatch.Check(grant.Revision); err != nil {
			return none, err
		}
		event, err := changed(ctx, now, key.ID, g.kind, name, recordedGrant(grant), nil)
		if err != nil {
			return none, err
		}
		return none, tx.Write(ctx, Changes{AccessChanges: AccessChanges{GrantDelete: &grant}, Events: []ipam.Event{event}})
	}, func(ctx context.Context) (struct{}, bool, error) {
		got, found, err := ignoreNotFound(s.store.GrantGet(ctx, key, of, consumer))
		return struct{}{}, !found || got.UID != first.UID, err
	})
	return err
}

// recordedGrant is the record of a grant, under the name of what was granted: the consumer is all that it says.
func recordedGrant(g ipam.Grant) *record {
	return &record{Spec: struct {
		Consumer string `json:"consumer"`
	}{g.Name}}
}
