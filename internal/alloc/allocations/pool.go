package allocations

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// InPool describes a list of one pool's rows in address order.
type InPool[T ipam.Sized] struct {
	Kind   string
	Of     ipam.ID // the project that owns the list
	Pool   ipam.Pool
	Filter paging.Filter
	Match  func(*T) bool
	Begins func(T) netip.Addr
	Fetch  func(ctx context.Context, read storage.Reader, c storage.Container, within netip.Prefix, after netip.Addr, n int) ([]T, error) // reads the pool's rows in one region
}

// PageInPool returns one page of the list. It reads all rows on the page at one moment.
func PageInPool[T ipam.Sized](ctx context.Context, s *usecase.Core, view storage.View, key storage.ProjectKey, l InPool[T], limit int, cursor string,
) (paging.Page[T], error) {
	these, unknown := paging.ListOf(l.Kind, l.Of, l.Filter), usecase.Unknown(ctx, view, key, l.Filter)
	return usecase.OrUnknown[T, netip.Addr](these, cursor, unknown, func(cursor string) (paging.Page[T], error) {
		return pageOfPool(ctx, s, view, l, limit, cursor)
	})
}

func pageOfPool[T ipam.Sized](ctx context.Context, s *usecase.Core, view storage.View, l InPool[T], limit int, cursor string) (paging.Page[T], error) {
	if l.Filter.Searches() {
		leave, err := s.Searching.AcquireForWork(ctx, l.Of)
		if err != nil {
			return paging.Page[T]{}, err
		}
		defer leave()
	}
	page, err := regions.ReadConsistently(ctx, view, "list_in_pool", l.Pool, func(ctx context.Context, read storage.Reader, pool ipam.Pool) (paging.Page[T], error) {
		within, err := startingIn(ctx, read, l.Filter, pool)
		if err != nil {
			return paging.Page[T]{}, err
		}
		return paging.Scan(ctx, nil, paging.ListOf(l.Kind, l.Of, l.Filter), cursor, limit, func(after netip.Addr, n int) ([]T, error) {
			if !sameFamily(after, pool.Block) {
				return nil, paging.ErrBadCursor()
			}
			return regions.ReadAllRegions(pool, n, l.Begins, func(c storage.Container) ([]T, error) {
				return l.Fetch(ctx, read, c, within, after, n)
			})
		}, l.Match, l.Begins)
	})
	// If the pool is not found, it was deleted meanwhile with all its rows.
	if ipam.IsCode(err, ipam.CodeNotFound) {
		return paging.Page[T]{Items: []T{}}, nil
	}
	return page, err
}

// startingIn returns the part of a pool in which the matching blocks can begin. Held blocks do not overlap, so at most one block contains an address.
func startingIn(ctx context.Context, read storage.Reader, f paging.Filter, pool ipam.Pool) (netip.Prefix, error) {
	block := pool.Block
	if f.Contains.IsValid() && block.Contains(f.Contains) {
		begins, found, err := regions.HeldBefore(ctx, read, pool, f.Contains)
		if !found {
			begins = f.Contains
		}
		return netip.PrefixFrom(begins, begins.BitLen()), err
	}
	if f.Within.IsValid() && f.Within.Addr().Is4() == block.Addr().Is4() && f.Within.Bits() > block.Bits() && block.Contains(f.Within.Addr()) {
		return f.Within, nil
	}
	return block, nil
}

func sameFamily(a netip.Addr, p netip.Prefix) bool {
	return !a.IsValid() || a.BitLen() == p.Addr().BitLen()
}
