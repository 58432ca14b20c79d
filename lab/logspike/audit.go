package logspike

import (
	"context"
	"fmt"
	"net/netip"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
)

// Audit checks that the holds of a pool and its free blocks are exactly the pool. It reads the free blocks from the snapshot and the log, and the
// holds from their rows. No request may change the pool meanwhile. It returns the live holds.
func Audit(ctx context.Context, db *pgxpool.Pool, id ID) ([]Hold, error) {
	e := &Engine{store: &store{db: db}}
	p := &pool{id: id, store: e.store}
	if err := p.ready(ctx, &atomic.Int64{}); err != nil {
		return nil, err
	}
	blocks, err := p.tree.all(ctx, p.tree.root)
	if err != nil {
		return nil, err
	}
	if err := p.tree.counted(blocks); err != nil {
		return nil, err
	}
	var holds []Hold
	const page = 10_000
	for last := (Hold{}); ; {
		some, err := e.Holds(ctx, id, last, page)
		if err != nil {
			return nil, err
		}
		for _, h := range some {
			blocks = append(blocks, h.Block)
		}
		if holds = append(holds, some...); len(some) < page {
			break
		}
		last = some[page-1]
	}
	return holds, freespace.Tiles(p.tree.root.block, blocks)
}

// all returns the free blocks of a node.
func (t *tree) all(ctx context.Context, n *node) (blocks []netip.Prefix, err error) {
	for i := range n.items {
		it := &n.items[i]
		if !it.child {
			blocks = append(blocks, it.block)
			continue
		}
		child, err := t.open(ctx, it)
		if err != nil {
			return nil, err
		}
		below, err := t.all(ctx, child)
		if err != nil {
			return nil, err
		}
		if it.largest != child.largest() {
			return nil, fmt.Errorf("page %s has a block of length %d, and its parent says %d", it.block, child.largest(), it.largest)
		}
		blocks = append(blocks, below...)
	}
	return blocks, nil
}

// counted checks the figures of the pool.
func (t *tree) counted(blocks []netip.Prefix) error {
	counts := t.counts
	for _, b := range blocks {
		counts[b.Bits()]--
	}
	if counts != [129]int64{} {
		return fmt.Errorf("the figures differ from the free blocks by %v", counts)
	}
	return nil
}
