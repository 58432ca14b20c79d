package regions

import (
	"context"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// InAllRegions answers up to n rows of a pool in order of address. The blocks of a pool's regions do not overlap, so that the first n of each region, put in
// order, begin with the first n of all. A pool that is served at home alone is one read.
func InAllRegions[T any](pool ipam.Pool, n int, begins func(T) netip.Addr, fetch func(c storage.Container) ([]T, error)) ([]T, error) {
	if !pool.Several() {
		return fetch(storage.PoolContainer(pool))
	}
	var all []T
	for _, c := range storage.PoolContainers(pool) {
		rows, err := fetch(c)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	slices.SortStableFunc(all, func(a, b T) int { return begins(a).Compare(begins(b)) })
	return all[:min(n, len(all))], nil
}

// InOneMoment answers a page of what is in a pool that one statement reads in each region. What is in a pool that serves several regions can move between them
// from one read to the next, so that all that a page needs is read at one moment, the pool itself with it.
func InOneMoment[P any](ctx context.Context, view storage.View, op string, pool ipam.Pool, page func(ctx context.Context, read storage.Reader, pool ipam.Pool) (P, error),
) (out P, err error) {
	if !pool.Several() {
		return page(ctx, view, pool)
	}
	return AtOneMoment(ctx, view, op, pool, page)
}

// AtOneMoment answers a page of what is in a pool that several statements read, at one moment, the pool itself with it.
func AtOneMoment[P any](ctx context.Context, view storage.View, op string, pool ipam.Pool, page func(ctx context.Context, read storage.Reader, pool ipam.Pool) (P, error),
) (out P, err error) {
	err = view.OneMoment(ctx, op, func(ctx context.Context, read storage.Reader) error {
		now, err := read.PoolGetByID(ctx, pool.UID)
		if err == nil {
			out, err = page(ctx, read, now)
		}
		return err
	})
	return out, err
}

// HeldBefore is Reader.HeldBefore over all regions of a pool: the last of what begins at or before the address in any.
func HeldBefore(ctx context.Context, read storage.Reader, pool ipam.Pool, at netip.Addr) (last netip.Addr, found bool, err error) {
	for _, c := range storage.PoolContainers(pool) {
		begins, there, err := read.HeldBefore(ctx, c, at)
		if err != nil {
			return last, false, err
		}
		if there && (!found || last.Less(begins)) {
			last, found = begins, true
		}
	}
	return last, found, nil
}
