package claims

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/pools"
	"github.com/carve-ipam/carve/internal/alloc/resolve"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// scopes contains the use cases on the pools for a project's scopes. A scope is one combination of values for which a class has its own pool. Another
// project may own the pool.
type scopes struct {
	*usecase.Core

	binder  *binder
	classes pools.ClassCache
}

// PutScopePool returns a scope's pool. If no pool exists yet, it carves the pool like the scope's first claim would do.
func (s *scopes) PutScopePool(
	ctx context.Context, project, class string, scope map[string]string, r usecase.Request,
) (usecase.Result[ipam.Pool], error) {
	who, key, err := s.Enter(ctx, tenancy.ClaimsWrite, project)
	if err != nil {
		return usecase.Result[ipam.Pool]{}, err
	}
	fresh := s.NewMetadata(ipam.Metadata{Name: "scope-" + ipam.NewID().String()}, key.Name, s.Region, who)
	event := trail.Attempt(ctx, fresh.CreatedAt, key.ID, trail.KindPool, "")
	return usecase.RetryConflicts(func(int) (usecase.Result[ipam.Pool], error) {
		res, err := s.resolve(ctx, s.Store, key, class, scope)
		if err != nil {
			return usecase.Result[ipam.Pool]{}, res.Explained(err)
		}
		if res.First == nil {
			p, err := s.shownPool(ctx, s.Store, key, res.Pools[0])
			if err == nil {
				err = r.CheckPut(true, p.Revision)
			}
			return usecase.Result[ipam.Pool]{Value: p, Existed: true}, err
		}
		if err := r.CheckPut(false, ipam.ID{}); err != nil {
			return usecase.Result[ipam.Pool]{}, err
		}
		o := &order{
			key: key, request: usecase.Request{DryRun: r.DryRun}, claim: ipam.Claim{Metadata: fresh, ProjectID: key.ID}, event: event,
			random: ipam.NewID(), choice: &choice{Resolved: res},
		}
		if _, err := s.binder.bindFirst(ctx, o); err != nil {
			return usecase.Result[ipam.Pool]{}, o.choice.Explained(err)
		}
		p := o.choice.pool
		p.Spec.Region = p.Region
		p.Stock = ipam.Stock{Free: map[int]int64{p.Block.Bits(): 1}}
		return usecase.Result[ipam.Pool]{Value: seenByHolder(key, p)}, nil
	})
}

// GetScopePool reads a scope's pool.
func (s *scopes) GetScopePool(ctx context.Context, project, class string, scope map[string]string) (ipam.Pool, error) {
	_, key, err := s.Enter(ctx, tenancy.ClaimsRead, project)
	if err != nil {
		return ipam.Pool{}, err
	}
	found, err := s.class(ctx, s.Store, key, class)
	if err != nil {
		return ipam.Pool{}, err
	}
	_, text := found.Found.ScopeKey(scope)
	p, there, err := storage.IgnoreNotFound(s.Store.ScopedPool(ctx, found.Found.UID, key.ID, text))
	if err == nil && !there {
		err = ipam.Errorf(ipam.CodeNotFound, "Project %q has no pool of class %s for this scope.", key.Name, found.Found.Ref())
	}
	if err != nil {
		return ipam.Pool{}, err
	}
	return s.shownPool(ctx, s.Store, key, p)
}

// ListScopePools lists the pools for the project's scopes in a class, in scope order.
func (s *scopes) ListScopePools(
	ctx context.Context, project, class string, limit int, cursor string, r usecase.Reading,
) (paging.Page[ipam.Pool], error) {
	_, key, err := s.Enter(ctx, tenancy.ClaimsRead, project)
	if err != nil {
		return paging.Page[ipam.Pool]{}, err
	}
	view := s.View(r)
	found, err := s.class(ctx, view, key, class)
	if err != nil {
		return paging.Page[ipam.Pool]{}, err
	}
	of := paging.ListOf("scope-pools", key.ID, found.Found.UID)
	page, err := paging.Scan(ctx, s.Searching, of, cursor, limit, func(after scopePlace, n int) ([]ipam.Pool, error) {
		rows, err := view.ScopedPoolsOf(ctx, found.Found.UID, key.ID, after.Scope, n)
		if err != nil {
			return nil, err
		}
		return rows, storage.FillStock(ctx, view, rows)
	}, func(p *ipam.Pool) bool {
		*p = seenByHolder(key, *p)
		return true
	}, func(p ipam.Pool) scopePlace { return scopePlace{p.Scope.Key, true} })
	return page, err
}

// scopePlace is a position in the list of a class's scope pools. A scope's text may be empty, so After marks that the position is set.
type scopePlace struct {
	Scope string `json:"s"`
	After bool   `json:"a"`
}

func (s *scopes) class(ctx context.Context, read storage.Reader, key storage.ProjectKey, name string) (storage.ClassFacts, error) {
	facts, err := s.classes.LookUp(ctx, read, storage.ClaimQuery{Project: key, Class: &storage.ClassQuery{Name: name}, Now: s.Now()})
	if err == nil && facts.Class.Found == nil {
		err = storage.ClassNotFound(ipam.Ref{Project: key.Name, Name: name})
	}
	return facts.Class, err
}

func (s *scopes) resolve(
	ctx context.Context, read storage.Reader, key storage.ProjectKey, class string, scope map[string]string,
) (resolve.Resolved, error) {
	found, err := s.class(ctx, read, key, class)
	if err != nil {
		return resolve.Resolved{}, err
	}
	return s.binder.resolver.ResolveScope(ctx, key, *found.Found, scope, found.Pools)
}

// shownPool returns a pool with its free space. The pool has only the fields that the claiming project may see.
func (s *scopes) shownPool(ctx context.Context, read storage.Reader, key storage.ProjectKey, p ipam.Pool) (ipam.Pool, error) {
	one := []ipam.Pool{p}
	err := storage.FillStock(ctx, read, one)
	return seenByHolder(key, one[0]), err
}

// seenByHolder returns a scope's pool as the claiming project may see it. If another project owns the pool, seenByHolder removes the owner's texts
// and the parent.
func seenByHolder(key storage.ProjectKey, p ipam.Pool) ipam.Pool {
	if p.UsedIn = ""; p.ProjectID != key.ID {
		p.Labels, p.Annotations, p.Spec.Description, p.Spec.Reservations, p.Spec.Parent = nil, nil, "", nil, ipam.Ref{}
	}
	return p
}

// scopeEvent returns the event about a carved scope pool, for the trail of the project that requested the pool.
func scopeEvent(o *order) (ipam.Event, error) {
	p := seenByHolder(o.key, o.choice.pool)
	e := o.event
	e.Name = p.Name
	return trail.Effected(e, nil, trail.RecordedPool(p))
}
