package allocations

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// ListAllocations lists the allocations in a project's pools, by pool and address. With Filter.Own, it lists the allocations that the project itself
// holds.
func (s *Allocations) ListAllocations(ctx context.Context, project string, f paging.Filter, limit int, cursor string, r usecase.Reading,
) (paging.Page[ipam.Allocation], error) {
	_, key, err := s.Enter(ctx, tenancy.AllocationsRead, project)
	if err != nil {
		return paging.Page[ipam.Allocation]{}, err
	}
	view := s.View(r)
	unknown := usecase.Unknown(ctx, view, key, f)
	if f.Own {
		these := paging.ListOf(kindHeld, key.ID, f)
		return usecase.OrUnknown[ipam.Allocation, heldCursor](these, cursor, unknown, func(cursor string) (paging.Page[ipam.Allocation], error) {
			return s.listHeld(ctx, view, key, f, limit, cursor)
		})
	}
	match := func(a *ipam.Allocation) bool {
		*a = seenBy(key, *a)
		return f.MatchesBlock(a.Block) && paging.MatchesRef(f.Pool, a.Pool) && (f.Phase == "" || f.Phase == string(a.Phase)) &&
			(f.Purpose == "" || f.Purpose == a.Purpose) && f.MatchesClass(a.Class)
	}
	if f.Pool != (ipam.Ref{}) && f.Pool.Project != project { // a project can only list the allocations in its own pools
		return paging.Page[ipam.Allocation]{Items: []ipam.Allocation{}}, usecase.RefuseUnknown(ctx, view, key, f)
	}
	pool, err := usecase.FilterPool(ctx, view, key, f)
	if err != nil {
		return paging.Page[ipam.Allocation]{}, err
	}
	if pool != nil {
		return PageInPool(ctx, s.Core, view, key, InPool[ipam.Allocation]{
			Kind: "allocations-in-pool", Of: key.ID, Pool: *pool, Filter: f, Match: match, Begins: func(a ipam.Allocation) netip.Addr { return a.Block.Addr() },
			Fetch: func(ctx context.Context, read storage.Reader, c storage.Container, within netip.Prefix, after netip.Addr, n int) ([]ipam.Allocation, error) {
				return read.AllocationListInPool(ctx, c, within, after, n)
			},
		}, limit, cursor)
	}
	these := paging.ListOf("held", key.ID, f)
	return usecase.OrUnknown[ipam.Allocation, storage.AllocationCursor](these, cursor, unknown, func(cursor string) (paging.Page[ipam.Allocation], error) {
		return paging.Scan(ctx, s.Searching, these, cursor, limit, func(after storage.AllocationCursor, n int) ([]ipam.Allocation, error) {
			return view.AllocationList(ctx, key, after, n)
		}, match, func(a ipam.Allocation) storage.AllocationCursor {
			return storage.AllocationCursor{ContainerID: a.ContainerID, Base: a.Block.Addr()}
		})
	})
}
