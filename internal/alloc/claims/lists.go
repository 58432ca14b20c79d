package claims

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/alloc/holdings"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// ListClaims lists a project's claims: by name, or by address when the filter names one of its pools. What it has in a pool of
// another project is looked for among its own claims, and not in that pool, of which it learns nothing so.
func (s *Claims) ListClaims(ctx context.Context, project string, f paging.Filter, limit int, cursor string) (paging.Page[ipam.Claim], error) {
	_, key, err := s.Enter(ctx, tenancy.ClaimsRead, project)
	if err != nil {
		return paging.Page[ipam.Claim]{}, err
	}
	match := func(c *ipam.Claim) bool {
		return f.MatchesBlock(c.Block) && f.MatchesLabels(c.Labels) && paging.Is(f.Pool, c.Pool) && (f.Phase == "" || f.Phase == string(ipam.PhaseBound)) && f.MatchesClass(c.Class)
	}
	pool, err := s.FilterPool(ctx, key, f)
	if err != nil {
		return paging.Page[ipam.Claim]{}, err
	}
	if pool != nil {
		return holdings.PageInPool(ctx, s.Core, key, holdings.InPool[ipam.Claim]{
			Kind: "claims-in-pool", Of: key.ID, Pool: *pool, Filter: f, Match: match, Begins: func(c ipam.Claim) netip.Addr { return c.Block.Addr() },
			Fetch: func(ctx context.Context, read storage.Reader, c storage.Container, within netip.Prefix, after netip.Addr, n int) ([]ipam.Claim, error) {
				return read.ClaimListInPool(ctx, key, c, within, after, n)
			},
		}, limit, cursor)
	}
	these := paging.ListOf("claims", key.ID, f)
	return usecase.OrUnknown[ipam.Claim, string](these, cursor, s.Unknown(ctx, key, f), func(cursor string) (paging.Page[ipam.Claim], error) {
		return paging.Scan(ctx, s.Searching, these, cursor, limit, func(after string, n int) ([]ipam.Claim, error) {
			return s.Store.ClaimList(ctx, key, after, n)
		}, match, func(c ipam.Claim) string { return c.Name })
	})
}
