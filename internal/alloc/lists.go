package alloc

import (
	"context"
	"net/netip"
	"slices"
	"sort"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// Filter narrows a list. Zero fields do not narrow.
type Filter struct {
	Labels   *ipam.Selector
	Phase    string
	Family   ipam.Family
	Pool     ipam.Ref
	Space    ipam.Ref
	Parent   ipam.Ref
	Purpose  ipam.Purpose
	Class    string       // the name of the class that served, or that the pool backs or was carved for
	Within   netip.Prefix // the resource's block lies inside
	Contains netip.Addr   // the resource's block covers the address
	Own      bool         // of allocations: what the project itself holds, in pools of any project, and not what is held in its pools
}

// Page is one page of a list. It may hold fewer items than asked for; Next alone says whether there is more.
type Page[T any] struct {
	Items []T
	Next  string
}

// scanBudget bounds the rows a page may look at when its filter matches few of them.
const scanBudget = 5000

// scan fills a page: it fetches runs of rows in key order, keeps those that match, and stops when the page is full, the
// rows end or the budget is used up. Beyond the first run it is a search, which needs a place unless searching is nil, as it must be in a transaction:
// whoever waits for a place holds no connection. key is where the row is in the order, for the cursor.
func scan[T, K any](ctx context.Context, searching *places, of list, cursor string, limit int, fetch func(after K, n int) ([]T, error), match func(*T) bool, key func(T) K) (Page[T], error) {
	var after K
	if err := openCursor(cursor, of, &after); err != nil {
		return Page[T]{}, err
	}
	page, seen := Page[T]{Items: []T{}}, 0
	defer func() { tenancy.BudgetOf(ctx).Add(tenancy.Work{Rows: seen}) }()
	for seen < scanBudget {
		n := max(limit-len(page.Items), 1) + 1
		if seen > 0 {
			n = max(n, 500)
			if searching != nil {
				leave, err := searching.enter(ctx, of.owner())
				if err != nil {
					return Page[T]{}, err
				}
				defer leave() //nolint:revive // once: it is nil then
				searching = nil
			}
		}
		rows, err := fetch(after, n)
		if err != nil {
			return Page[T]{}, err
		}
		seen += len(rows)
		for i := range rows {
			if len(page.Items) == limit {
				page.Next = sealCursor(of, after)
				return page, nil
			}
			after = key(rows[i])
			if match(&rows[i]) {
				page.Items = append(page.Items, rows[i])
			}
		}
		if len(rows) < n {
			return page, nil
		}
	}
	page.Next = sealCursor(of, after)
	return page, nil
}

func (f Filter) block(p netip.Prefix) bool {
	if f.Family != "" && ipam.FamilyOf(p.Addr()) != f.Family {
		return false
	}
	if f.Within.IsValid() && (f.Within.Addr().Is4() != p.Addr().Is4() || f.Within.Bits() > p.Bits() || !f.Within.Contains(p.Addr())) {
		return false
	}
	return !f.Contains.IsValid() || p.Contains(f.Contains)
}

func (f Filter) labels(m map[string]string) bool { return f.Labels == nil || f.Labels.Matches(m) }

// byClass reports whether one of some classes has the name that is asked for.
func (f Filter) byClass(classes ...ipam.ClassRef) bool {
	return f.Class == "" || slices.ContainsFunc(classes, func(c ipam.ClassRef) bool { return c.Ref.Name == f.Class })
}

// classesBehind is the classes whose claims draw from a pool.
func classesBehind(p *ipam.Pool) []ipam.ClassRef {
	if p.Scope != nil {
		return []ipam.ClassRef{p.Scope.Class}
	}
	return p.Classes
}

func is(want, have ipam.Ref) bool { return want == ipam.Ref{} || want == have }

// ListProjects lists by name the projects that the caller has a role in: all of them for a platform admin.
func (s *Service) ListProjects(ctx context.Context, f Filter, limit int, cursor string) (Page[ipam.Project], error) {
	who, err := tenancy.Authorize(ctx, tenancy.ProjectsList, "")
	if err != nil {
		return Page[ipam.Project]{}, err
	}
	own := who.Projects()
	return scan(ctx, s.searching, listOf("projects", f), cursor, limit, func(after string, n int) ([]ipam.Project, error) {
		if who.PlatformAdmin() {
			return s.store.ProjectList(ctx, after, n)
		}
		return s.listNamed(ctx, who.Principal, own[sort.Search(len(own), func(i int) bool { return own[i] > after }):], n)
	}, func(p *ipam.Project) bool { return f.labels(p.Labels) }, func(p ipam.Project) string { return p.Name })
}

// listNamed answers the first n of the projects that exist and that the caller has a role in, by name. A role may be in a project that does not
// exist any more, whose name another one has.
func (s *Service) listNamed(ctx context.Context, who tenancy.Principal, names []string, n int) ([]ipam.Project, error) {
	if len(names) == 0 {
		return nil, nil
	}
	found, err := s.store.ProjectListNamed(ctx, names)
	found = slices.DeleteFunc(found, func(p ipam.Project) bool { return who.RoleInThe(Key(p)) == "" })
	return found[:min(n, len(found))], err
}

// ListSpaces lists a project's spaces by name.
func (s *Service) ListSpaces(ctx context.Context, project string, f Filter, limit int, cursor string) (Page[ipam.Space], error) {
	_, key, err := s.enter(ctx, tenancy.SpacesRead, project)
	if err != nil {
		return Page[ipam.Space]{}, err
	}
	return scan(ctx, s.searching, listOf("spaces", key.ID, f), cursor, limit, func(after string, n int) ([]ipam.Space, error) {
		return s.store.SpaceList(ctx, key, after, n)
	}, func(p *ipam.Space) bool { return f.labels(p.Labels) }, func(p ipam.Space) string { return p.Name })
}

// ListPools lists a project's pools by name, each with what is free in it.
func (s *Service) ListPools(ctx context.Context, project string, f Filter, limit int, cursor string) (Page[ipam.Pool], error) {
	_, key, err := s.enter(ctx, tenancy.PoolsRead, project)
	if err != nil {
		return Page[ipam.Pool]{}, err
	}
	match := func(p *ipam.Pool) bool {
		return f.block(p.Block) && f.labels(p.Labels) && is(f.Space, p.Space) && is(f.Parent, p.Spec.Parent) &&
			(f.Phase == "" || f.Phase == p.Phase()) && f.byClass(classesBehind(p)...)
	}
	these := listOf("pools", key.ID, f)
	return orUnknown[ipam.Pool, string](these, cursor, s.unknown(ctx, key, f), func(cursor string) (Page[ipam.Pool], error) {
		return scan(ctx, s.searching, these, cursor, limit, func(after string, n int) ([]ipam.Pool, error) {
			rows, err := s.store.PoolList(ctx, key, after, n)
			if err != nil {
				return nil, err
			}
			return rows, fillStock(ctx, s.store, rows)
		}, match, func(p ipam.Pool) string { return p.Name })
	})
}

// ListClaims lists a project's claims: by name, or by address when the filter names one of its pools. What it has in a pool of
// another project is looked for among its own claims, and not in that pool, of which it learns nothing so.
func (s *Service) ListClaims(ctx context.Context, project string, f Filter, limit int, cursor string) (Page[ipam.Claim], error) {
	_, key, err := s.enter(ctx, tenancy.ClaimsRead, project)
	if err != nil {
		return Page[ipam.Claim]{}, err
	}
	match := func(c *ipam.Claim) bool {
		return f.block(c.Block) && f.labels(c.Labels) && is(f.Pool, c.Pool) && (f.Phase == "" || f.Phase == string(ipam.PhaseBound)) && f.byClass(c.Class)
	}
	pool, err := s.filterPool(ctx, key, f)
	if err != nil {
		return Page[ipam.Claim]{}, err
	}
	if pool != nil {
		return pageInPool(ctx, s, key, inPool[ipam.Claim]{
			kind: "claims-in-pool", of: key.ID, pool: *pool, filter: f, match: match, begins: func(c ipam.Claim) netip.Addr { return c.Block.Addr() },
			fetch: func(ctx context.Context, read Reader, c Container, within netip.Prefix, after netip.Addr, n int) ([]ipam.Claim, error) {
				return read.ClaimListInPool(ctx, key, c, within, after, n)
			},
		}, limit, cursor)
	}
	these := listOf("claims", key.ID, f)
	return orUnknown[ipam.Claim, string](these, cursor, s.unknown(ctx, key, f), func(cursor string) (Page[ipam.Claim], error) {
		return scan(ctx, s.searching, these, cursor, limit, func(after string, n int) ([]ipam.Claim, error) {
			return s.store.ClaimList(ctx, key, after, n)
		}, match, func(c ipam.Claim) string { return c.Name })
	})
}

// ListAllocations lists what is held in a project's pools, by pool and address, or what the project itself holds.
func (s *Service) ListAllocations(ctx context.Context, project string, f Filter, limit int, cursor string) (Page[ipam.Allocation], error) {
	_, key, err := s.enter(ctx, tenancy.AllocationsRead, project)
	if err != nil {
		return Page[ipam.Allocation]{}, err
	}
	if f.Own {
		return orUnknown[ipam.Allocation, holdingPlace](listOf(kindHoldings, key.ID, f), cursor, s.unknown(ctx, key, f), func(cursor string) (Page[ipam.Allocation], error) {
			return s.holdings(ctx, key, f, limit, cursor)
		})
	}
	match := func(a *ipam.Allocation) bool {
		*a = seenBy(key, *a)
		return f.block(a.Block) && is(f.Pool, a.Pool) && (f.Phase == "" || f.Phase == string(a.Phase)) &&
			(f.Purpose == "" || f.Purpose == a.Purpose) && f.byClass(a.Class)
	}
	if f.Pool != (ipam.Ref{}) && f.Pool.Project != project { // a project's allocations are in its own pools
		return Page[ipam.Allocation]{Items: []ipam.Allocation{}}, s.refuseUnknown(ctx, key, f)
	}
	pool, err := s.filterPool(ctx, key, f)
	if err != nil {
		return Page[ipam.Allocation]{}, err
	}
	if pool != nil {
		return pageInPool(ctx, s, key, inPool[ipam.Allocation]{
			kind: "allocations-in-pool", of: key.ID, pool: *pool, filter: f, match: match, begins: func(a ipam.Allocation) netip.Addr { return a.Block.Addr() },
			fetch: func(ctx context.Context, read Reader, c Container, within netip.Prefix, after netip.Addr, n int) ([]ipam.Allocation, error) {
				return read.AllocationListInPool(ctx, c, within, after, n)
			},
		}, limit, cursor)
	}
	these := listOf("held", key.ID, f)
	return orUnknown[ipam.Allocation, AllocationCursor](these, cursor, s.unknown(ctx, key, f), func(cursor string) (Page[ipam.Allocation], error) {
		return scan(ctx, s.searching, these, cursor, limit, func(after AllocationCursor, n int) ([]ipam.Allocation, error) {
			return s.store.AllocationList(ctx, key, after, n)
		}, match, func(a ipam.Allocation) AllocationCursor {
			return AllocationCursor{ContainerID: a.ContainerID, Base: a.Block.Addr()}
		})
	})
}

// filterPool resolves the filter's pool, if it is the project's own, and refuses one that does not exist.
func (s *Service) filterPool(ctx context.Context, key ProjectKey, f Filter) (*ipam.Pool, error) {
	if f.Pool.Project != key.Name {
		return nil, nil //nolint:nilnil // nothing to resolve is no failure
	}
	pool, found, err := ignoreNotFound(s.store.PoolGet(ctx, key, f.Pool.Name))
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, s.refuseUnknown(ctx, key, f)
	}
	return &pool, nil
}

func sameFamily(a netip.Addr, p netip.Prefix) bool {
	return !a.IsValid() || a.BitLen() == p.Addr().BitLen()
}
