package lookup

import (
	"context"
	"errors"
	"net/netip"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/crdb/rows"
)

// Free reads free blocks as they are planned to be read, and the fence of their container into fences, if it is not there yet.
func Free(ctx context.Context, db Querier, c storage.Container, reads space.Reads, fences Fences) (free []netip.Prefix, err error) {
	b := &pgx.Batch{}
	n := queueFree(b, c, reads)
	_, known := fences[PlaceOf(c)]
	if !known {
		b.Queue(query.Get("fence_list"), fenceArgs([]Place{PlaceOf(c)})...)
	}
	if b.Len() == 0 {
		return nil, nil
	}
	results := db.SendBatch(ctx, b)
	free, err = takeFree(results, n)
	if err == nil && !known {
		err = fences.take(results)
	}
	return free, errors.Join(err, results.Close())
}

// queueFree adds the statements of the planned reads and answers how many there are.
func queueFree(b *pgx.Batch, c storage.Container, reads space.Reads) int {
	before := b.Len()
	if len(reads.Keys) > 0 {
		sizes, bases := freeArrays(reads.Keys)
		b.Queue(query.Get("free_at"), c.Region, rows.ID(c.ID), sizes, bases)
	}
	width := c.Block.Addr().BitLen()
	for _, s := range reads.Scans {
		lo, hi := int16(width-s.MaxBits), int16(width-s.MinBits) //nolint:gosec // 0 to 128
		if s.Order == space.TightestFirst && s.From == c.Block.Addr() {
			b.Queue(query.Get("free_tightest"), c.Region, rows.ID(c.ID), lo, hi, s.Limit)
			continue
		}
		// The first Limit of each size hold the first Limit of any order over all sizes.
		sizes := make([]int16, 0, hi-lo+1)
		for bits := lo; bits <= hi; bits++ {
			sizes = append(sizes, bits)
		}
		b.Queue(query.Get("free_scan"), c.Region, rows.ID(c.ID), sizes, s.From.AsSlice(), s.Limit)
	}
	return b.Len() - before
}

func takeFree(results pgx.BatchResults, n int) ([]netip.Prefix, error) {
	var free []netip.Prefix
	for range n {
		answer, err := results.Query()
		if err != nil {
			return nil, err
		}
		part, err := Collect(answer, rows.Free.Scan)
		if err != nil {
			return nil, err
		}
		free = append(free, part...)
	}
	return free, nil
}

func freeArrays(blocks []netip.Prefix) (sizes []int16, bases [][]byte) {
	sizes, bases = make([]int16, len(blocks)), make([][]byte, len(blocks))
	for i, p := range blocks {
		sizes[i], bases[i] = rows.HostBits(p), rows.Base(p)
	}
	return sizes, bases
}
