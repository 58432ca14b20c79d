package claims

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/alloc/allocations"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

type reader struct{ *usecase.Core }

// GetClaim reads one claim.
func (s *reader) GetClaim(ctx context.Context, project, name string, r usecase.Reading) (ipam.Claim, error) {
	pass, key, remembered, err := s.EnterCached(ctx, tenancy.ClaimsRead, project)
	if err != nil {
		return ipam.Claim{}, err
	}
	c, _, err := s.find(ctx, s.View(r), pass, key, remembered, name)
	return c, err
}

// find reads a project's claim. The project's key may come from the cache. A claim under the cached project id is always right. A project's id and
// name never change, and no claim outlives its project. If find finds no claim, it reads the project again, because a new project may now have the
// name.
func (s *reader) find(ctx context.Context, read storage.Reader, pass tenancy.Pass, key storage.ProjectKey, remembered bool, name string,
) (ipam.Claim, storage.ProjectKey, error) {
	c, err := read.ClaimGet(ctx, key, name)
	if !remembered || !ipam.IsCode(err, ipam.CodeNotFound) {
		return c, key, err
	}
	now, err := s.ProjectKey(ctx, pass)
	if err != nil {
		return c, key, err
	}
	if now.ID == key.ID {
		return c, key, notFoundClaim(key, name)
	}
	c, err = read.ClaimGet(ctx, now, name)
	return c, now, err
}

func notFoundClaim(key storage.ProjectKey, name string) error {
	return ipam.Errorf(ipam.CodeNotFound, "Claim %s/%s was not found.", key.Name, name)
}

// ListClaims lists a project's claims by name. If the filter names one of the project's pools and no owner, it lists them by address. If the filter
// names another project's pool, it searches the project's own claims. So the caller learns nothing about that pool.
func (s *reader) ListClaims(ctx context.Context, project string, f paging.Filter, limit int, cursor string, r usecase.Reading,
) (paging.Page[ipam.Claim], error) {
	_, key, err := s.Enter(ctx, tenancy.ClaimsRead, project)
	if err != nil {
		return paging.Page[ipam.Claim]{}, err
	}
	match := func(c *ipam.Claim) bool {
		return f.MatchesBlock(c.Block) && f.MatchesLabels(c.Labels) && paging.MatchesRef(f.Pool, c.Pool) && (f.Phase == "" || f.Phase == string(ipam.PhaseBound)) && f.MatchesClass(c.Class) &&
			(f.Owner == "" || f.Owner == c.Spec.OwnerRef.String())
	}
	view := s.View(r)
	pool, err := usecase.FilterPool(ctx, view, key, f)
	if err != nil {
		return paging.Page[ipam.Claim]{}, err
	}
	if pool != nil && f.Owner == "" && f.Consumer == (ipam.ConsumerRef{}) {
		return allocations.PageInPool(ctx, s.Core, view, key, allocations.InPool[ipam.Claim]{
			Kind: "claims-in-pool", Of: key.ID, Pool: *pool, Filter: f, Match: match, Begins: func(c ipam.Claim) netip.Addr { return c.Block.Addr() },
			Fetch: func(ctx context.Context, read storage.Reader, c storage.Container, within netip.Prefix, after netip.Addr, n int) ([]ipam.Claim, error) {
				return read.ClaimListInPool(ctx, key, c, within, after, n)
			},
		}, limit, cursor)
	}
	if f.Consumer != (ipam.ConsumerRef{}) {
		return paging.Scan(ctx, s.Searching, paging.ListOf("claims-of-consumer", key.ID, f), cursor, limit, func(after string, n int) ([]ipam.Claim, error) {
			return view.ClaimListOfConsumer(ctx, key, f.Consumer, after, n)
		}, match, func(c ipam.Claim) string { return c.Name })
	}
	these := paging.ListOf("claims", key.ID, f)
	unknown := usecase.Unknown(ctx, view, key, f)
	return usecase.OrUnknown[ipam.Claim, string](these, cursor, unknown, func(cursor string) (paging.Page[ipam.Claim], error) {
		return paging.Scan(ctx, s.Searching, these, cursor, limit, func(after string, n int) ([]ipam.Claim, error) {
			if f.Owner != "" {
				return view.ClaimListOwned(ctx, key, f.Owner, after, n)
			}
			return view.ClaimList(ctx, key, after, n)
		}, match, func(c ipam.Claim) string { return c.Name })
	})
}
