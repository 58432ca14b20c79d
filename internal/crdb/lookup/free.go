package lookup

import (
	"context"
	"errors"
	"net/netip"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Free runs planned reads for free blocks. If fences lacks the container's version row, Free also reads this row and adds it. stock contains the
// container's counts by block size. It only affects the choice between statements, and never the result. With an empty stock, one statement reads
// several blocks or sizes.
func Free(ctx context.Context, db Querier, c storage.Container, reads freespace.Reads, stock ipam.Stock, fences Fences) (free []netip.Prefix, err error) {
	b := &pgx.Batch{}
	_, known := fences[FenceKeyOf(c)]
	n := queueFree(b, c, reads, stock)
	if !known {
		b.Queue(query.Get("fence_list"), fenceArgs([]FenceKey{FenceKeyOf(c)})...)
	}
	if b.Len() == 0 {
		return nil, nil
	}
	results := db.SendBatch(ctx, b)
	free, err = takeFree(results, n)
	if err == nil && !known {
		err = fences.collect(results.Query())
	}
	return free, errors.Join(err, results.Close())
}

// FreeCover implements storage.Reader.
func (r Reader) FreeCover(ctx context.Context, pool ipam.Pool, within netip.Prefix, bits int) (free []netip.Prefix, err error) {
	width := within.Addr().BitLen()
	var sizes []int16
	for b := bits; b >= within.Bits(); b-- {
		sizes = append(sizes, int16(width-b)) //nolint:gosec // 0 to 128
	}
	var around []netip.Prefix
	for b := within.Bits() - 1; b >= pool.Block.Bits(); b-- {
		around = append(around, freespace.Ancestor(within, b))
	}
	larger, bases := freeArrays(around)
	err = r.run(ctx, "free_cover", func(q Querier) error {
		b := &pgx.Batch{}
		for _, c := range storage.PoolContainers(pool) {
			b.Queue(query.Get("free_within"), c.Region, c.ID, sizes, rows.Base(within), rows.Last(within), 1<<(bits-within.Bits()))
			if len(around) > 0 {
				b.Queue(query.Get("free_at"), c.Region, c.ID, larger, bases)
			}
		}
		results := q.SendBatch(ctx, b)
		var err error
		free, err = takeFree(results, b.Len())
		return errors.Join(err, results.Close())
	})
	slices.SortFunc(free, freespace.Compare)
	return free, err
}

// fewFree is the largest number of free blocks of one size for which a statement reads several sizes at once. On CockroachDB, such a statement reads
// all free blocks with these sizes, which takes 1 ms for 18 blocks. A size with more free blocks gets its own statement, which reads no more blocks
// than its limit.
const fewFree = 64

// splitSizes splits sizes into sizes with few free blocks and sizes with many free blocks. A size that is not in stock counts as a size with few.
func splitSizes(sizes []int16, width int, stock ipam.Stock) (few, many []int16) {
	for _, size := range sizes {
		if stock.Free[width-int(size)] > fewFree {
			many = append(many, size)
		} else {
			few = append(few, size)
		}
	}
	return few, many
}

// freeForOne is the number of free blocks that the database can read in the time of one additional statement. On CockroachDB, one statement for
// several blocks may read all the container's free blocks, about 1,000 in a millisecond. One statement for each block takes 0.3 ms.
const freeForOne = 300

// queueFree adds the statements for the planned reads, and returns their number.
func queueFree(b *pgx.Batch, c storage.Container, reads freespace.Reads, stock ipam.Stock) int {
	before := b.Len()
	if len(reads.Keys) > 0 {
		queueBlocks(b, c, reads.Keys, stock)
	}
	width := c.Block.Addr().BitLen()
	for _, s := range reads.Scans {
		lo, hi := int16(width-s.MaxBits), int16(width-s.MinBits) //nolint:gosec // 0 to 128
		if s.Order == freespace.TightestFirst && s.From == c.Block.Addr() {
			b.Queue(query.Get("free_tightest"), c.Region, c.ID, lo, hi, s.Limit)
			continue
		}
		// These statements return the first Limit blocks for each size. So they include the first Limit blocks for all sizes together, in any order.
		sizes := make([]int16, 0, hi-lo+1)
		for bits := lo; bits <= hi; bits++ {
			sizes = append(sizes, bits)
		}
		few, many := splitSizes(sizes, width, stock)
		if len(few) > 0 {
			b.Queue(query.Get("free_scan"), c.Region, c.ID, few, s.From.AsSlice(), s.Limit)
		}
		for _, size := range many {
			b.Queue(query.Get("free_scan_size"), c.Region, c.ID, size, s.From.AsSlice(), s.Limit)
		}
	}
	return b.Len() - before
}

func queueBlocks(b *pgx.Batch, c storage.Container, keys []netip.Prefix, stock ipam.Stock) {
	sizes, bases := freeArrays(keys)
	free := int64(0)
	for _, n := range stock.Free {
		free += n
	}
	if int64(len(keys))*freeForOne >= free {
		b.Queue(query.Get("free_at"), c.Region, c.ID, sizes, bases)
		return
	}
	for i := range keys {
		b.Queue(query.Get("free_get"), c.Region, c.ID, sizes[i], bases[i])
	}
}

func takeFree(results pgx.BatchResults, n int) ([]netip.Prefix, error) {
	var free []netip.Prefix
	for range n {
		part, err := ReadRows(results, rows.Free.Scan)
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
