package lookup

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// PoolGet implements storage.Reader.
func (r Reader) PoolGet(ctx context.Context, project storage.ProjectKey, name string) (ipam.Pool, error) {
	return readOne(ctx, r, "pool_get", rows.Pools.Scan, poolMissing(project, name), project.ID, name)
}

func poolMissing(project storage.ProjectKey, name string) func() error {
	return NotFound("Pool %s/%s was not found.", project.Name, name)
}

// PoolGetByID implements storage.Reader.
func (r Reader) PoolGetByID(ctx context.Context, id ipam.ID) (ipam.Pool, error) {
	return readOne(ctx, r, "pool_get_by_id", rows.Pools.Scan, NotFound("The pool was not found."), id)
}

// PoolList implements storage.Reader.
func (r Reader) PoolList(ctx context.Context, project storage.ProjectKey, after string, limit int) ([]ipam.Pool, error) {
	return List(ctx, r, "pool_list", rows.Pools.Scan, project.ID, after, limit)
}

// PoolListRoots implements storage.Reader.
func (r Reader) PoolListRoots(ctx context.Context, project storage.ProjectKey, after string, limit int) ([]ipam.Pool, error) {
	return List(ctx, r, "pool_list_roots", rows.Pools.Scan, project.ID, after, limit)
}

// PoolListByLabels implements storage.Reader.
func (r Reader) PoolListByLabels(ctx context.Context, project storage.ProjectKey, labels map[string]string, after string, limit int) ([]ipam.Pool, error) {
	doc, err := rows.Document(labels)
	if err != nil {
		return nil, err
	}
	return List(ctx, r, "pool_list_by_labels", rows.Pools.Scan, project.ID, doc, after, limit)
}

// DrainedPoolList implements storage.Reader.
func (r Reader) DrainedPoolList(ctx context.Context, limit int) ([]ipam.Pool, error) {
	return List(ctx, r, "drained_pool_list", rows.Pools.Scan, r.region, limit)
}

// PoolListOverlapping implements storage.Reader.
func (r Reader) PoolListOverlapping(ctx context.Context, containerID ipam.ID, b netip.Prefix, limit int) ([]ipam.Pool, error) {
	before, err := List(ctx, r, "pool_get_before", rows.Pools.Scan, containerID, rows.Base(b))
	if err != nil {
		return nil, err
	}
	inside, err := List(ctx, r, "pool_list_overlapping", rows.Pools.Scan, containerID, rows.Base(b), rows.Last(b), limit)
	if err != nil {
		return nil, err
	}
	if len(before) == 1 && before[0].Block.Overlaps(b) && (len(inside) == 0 || inside[0].UID != before[0].UID) {
		inside = append(before, inside...)
	}
	return inside[:min(limit, len(inside))], nil
}

// FreeList implements storage.Reader.
func (r Reader) FreeList(ctx context.Context, c storage.Container, maxBits int, from netip.Prefix, limit int) ([]netip.Prefix, error) {
	width := c.Block.Addr().BitLen()
	var sizes []int16
	for bits := c.Block.Bits(); bits <= maxBits; bits++ {
		if !from.IsValid() || bits >= from.Bits() {
			sizes = append(sizes, int16(width-bits)) //nolint:gosec // 0 to 128
		}
	}
	few, many := sizes, []int16(nil)
	if r.byKeys {
		found, err := r.fences(ctx, []FenceKey{FenceKeyOf(c)})
		if err != nil {
			return nil, err
		}
		few, many = splitSizes(sizes, width, found[FenceKeyOf(c)].Stock)
	}
	last := func(size int16) netip.Addr { // returns the address after which the page begins
		if from.IsValid() && size == rows.HostBits(from) {
			return from.Addr()
		}
		return netip.Addr{}
	}
	after := make([][]byte, len(few))
	for i, size := range few {
		after[i] = rows.After(last(size))
	}
	var free []netip.Prefix
	err := r.run(ctx, "free_list", func(q Querier) error {
		b := &pgx.Batch{}
		if len(few) > 0 {
			b.Queue(query.Get("free_list"), c.Region, c.ID, few, after, limit)
		}
		for _, size := range many {
			start := rows.After(last(size))
			if len(start) > 0 {
				start = append(start, 0) // the smallest byte string after start, because this statement's lower bound is inclusive
			}
			b.Queue(query.Get("free_scan_size"), c.Region, c.ID, size, start, limit)
		}
		results := q.SendBatch(ctx, b)
		var err error
		free, err = takeFree(results, b.Len())
		return errors.Join(err, results.Close())
	})
	slices.SortFunc(free, func(a, b netip.Prefix) int {
		return cmp.Or(cmp.Compare(a.Bits(), b.Bits()), a.Addr().Compare(b.Addr()))
	})
	return free[:min(limit, len(free))], err
}
