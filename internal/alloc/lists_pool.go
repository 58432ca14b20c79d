package alloc

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

// inPool is a list of what is in one pool, in order of address.
type inPool[T any] struct {
	kind   string
	of     ipam.ID // whose list it is
	pool   ipam.Pool
	filter Filter
	match  func(*T) bool
	begins func(T) netip.Addr
	fetch  func(ctx context.Context, read Reader, c Container, within netip.Prefix, after netip.Addr, n int) ([]T, error) // of the pool in one region
}

// pageInPool answers one page of it, all of one moment.
func pageInPool[T any](ctx context.Context, s *Service, key ProjectKey, l inPool[T], limit int, cursor string) (Page[T], error) {
	return orUnknown[T, netip.Addr](listOf(l.kind, l.of, l.filter), cursor, s.unknown(ctx, key, l.filter), func(cursor string) (Page[T], error) {
		return pageOfPool(ctx, s, l, limit, cursor)
	})
}

func pageOfPool[T any](ctx context.Context, s *Service, l inPool[T], limit int, cursor string) (Page[T], error) {
	if l.filter.searches() {
		leave, err := s.searching.enter(ctx, l.of)
		if err != nil {
			return Page[T]{}, err
		}
		defer leave()
	}
	page, err := inOneMoment(ctx, s, "list_in_pool", l.pool, func(ctx context.Context, read Reader, pool ipam.Pool) (Page[T], error) {
		within, err := startingIn(ctx, read, l.filter, pool)
		if err != nil {
			return Page[T]{}, err
		}
		return scan(ctx, nil, listOf(l.kind, l.of, l.filter), cursor, limit, func(after netip.Addr, n int) ([]T, error) {
			if !sameFamily(after, pool.Block) {
				return nil, errBadCursor()
			}
			return inAllRegions(pool, n, l.begins, func(c Container) ([]T, error) {
				return l.fetch(ctx, read, c, within, after, n)
			})
		}, l.match, l.begins)
	})
	if ipam.IsCode(err, ipam.CodeNotFound) { // the pool is gone meanwhile, with all that was in it
		return Page[T]{Items: []T{}}, nil
	}
	return page, err
}

// startingIn is the part of a pool in which matching blocks can begin. Blocks of a pool do not overlap, so that one alone can hold an address.
func startingIn(ctx context.Context, read Reader, f Filter, pool ipam.Pool) (netip.Prefix, error) {
	block := pool.Block
	if f.Contains.IsValid() && block.Contains(f.Contains) {
		begins, found, err := heldBefore(ctx, read, pool, f.Contains)
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

// searches reports whether a list in one pool may look at many rows for few that match: pools are in order of address, and no index knows more.
func (f Filter) searches() bool {
	return f.Labels != nil || f.Phase != "" || f.Purpose != "" || f.Class != ""
}
