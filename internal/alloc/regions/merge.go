package regions

import (
	"context"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// ReadAllRegions returns up to n rows from a pool in all its regions, sorted by address. Blocks in different regions do not overlap. So each region's
// first n rows together include the pool's first n rows. A pool that serves only its home region costs one read.
func ReadAllRegions[T any](pool ipam.Pool, n int, begins func(T) netip.Addr, fetch func(c storage.Container) ([]T, error)) ([]T, error) {
	if !pool.MultiRegion() {
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

// ReadConsistently calls readPage, which reads one page of a pool's rows with one statement for each region. Between two statements, a row could move
// from one region to another. So ReadConsistently reads the pool and all its rows in one snapshot. A pool with one region needs no snapshot.
func ReadConsistently[P any](ctx context.Context, view storage.View, op string, pool ipam.Pool, readPage func(ctx context.Context, read storage.Reader, pool ipam.Pool) (P, error),
) (out P, err error) {
	if !pool.MultiRegion() {
		return readPage(ctx, view, pool)
	}
	return ReadInSnapshot(ctx, view, op, pool, readPage)
}

// ReadInSnapshot calls readPage, which reads one page of a pool's rows with several statements. All these statements and the read of the pool itself
// use one snapshot.
func ReadInSnapshot[P any](ctx context.Context, view storage.View, op string, pool ipam.Pool, readPage func(ctx context.Context, read storage.Reader, pool ipam.Pool) (P, error),
) (out P, err error) {
	err = view.Snapshot(ctx, op, func(ctx context.Context, read storage.Reader) error {
		now, err := read.PoolGetByID(ctx, pool.UID)
		if err == nil {
			out, err = readPage(ctx, read, now)
		}
		return err
	})
	return out, err
}

// HeldBefore calls Reader.HeldBefore for all the pool's regions. It returns the start of the last held block that begins at or before the address in
// any region.
func HeldBefore(ctx context.Context, read storage.Reader, pool ipam.Pool, address netip.Addr) (last netip.Addr, found bool, err error) {
	for _, c := range storage.PoolContainers(pool) {
		begins, there, err := read.HeldBefore(ctx, c, address)
		if err != nil {
			return last, false, err
		}
		if there && (!found || last.Less(begins)) {
			last, found = begins, true
		}
	}
	return last, found, nil
}
