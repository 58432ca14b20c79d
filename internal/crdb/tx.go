package crdb

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/twin"
)

// tx is one attempt of a transaction.
type tx struct {
	reader
	conn   *conn
	number int
	dry    bool
	clock  *storeClock

	durable func() (ask, write string) // of the engine

	stale *stalePlan // nil, but for a twin
}

var _ storage.Tx = (*tx)(nil)

func newTx(s *Store, c *conn, number int, dry bool) *tx {
	t := &tx{conn: c, number: number, dry: dry, clock: s.clock, durable: s.engine.durable}
	// Inside a transaction nothing is repeated by itself: the error ends the attempt.
	t.reader = reader{region: s.region, places: s.places, run: func(_ context.Context, _ string, fn func(querier) error) error { return fn(c) }}
	return t
}

// Attempt implements storage.Tx.
func (t *tx) Attempt() int { return t.number }

// Now implements storage.Tx.
func (t *tx) Now() time.Time {
	if t.conn.at.IsZero() || twin.LocalClock {
		return t.clock.Now()
	}
	return t.conn.at
}

// FreeRead implements storage.Tx.
func (t *tx) FreeRead(ctx context.Context, c storage.Container, reads space.Reads) ([]netip.Prefix, error) {
	t.conn.lock(c.Lock())
	b := &pgx.Batch{}
	n := queueFree(b, c, reads)
	if n == 0 {
		return nil, nil
	}
	results := t.conn.SendBatch(ctx, b)
	free, err := takeFree(results, n)
	return free, errors.Join(err, results.Close())
}

// QuotaShards implements storage.QuotaReader. Whoever decides by the sum of a quota's shards is alone with it.
func (t *tx) QuotaShards(ctx context.Context, quotas []ipam.ID) ([]ipam.QuotaShard, error) {
	t.conn.lock(quotas...)
	return t.reader.QuotaShards(ctx, quotas)
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
		part, err := collect(answer, rows.Free.Scan)
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
