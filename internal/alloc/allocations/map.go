package allocations

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// MaxMapDepth is the greatest difference between the prefix lengths of a map's cells and its block.
const MaxMapDepth = 8

// Map shows a block in a pool, divided into cells of equal size.
type Map struct {
	Within netip.Prefix
	Bits   int // the prefix length of the cells
	Runs   []Run
}

// Run is a range of adjacent cells with the same state. Either one block holds all these cells, or all are free, or each contains smaller held
// blocks.
type Run struct {
	First, Count int
	By           *ipam.Allocation // the block that holds all cells; nil otherwise
	Mixed        bool             // each cell contains smaller held blocks
}

// GetPoolMap returns the map of a block in a project's pool. If within is zero, the block is the whole pool. The prefix length of the cells is depth
// bits longer than the block's, up to the length of a single address.
//
// A cell inside a free block is free. For the other cells, GetPoolMap reads the first held block that begins in each cell, and the last held block
// before all cells. This is enough, because held blocks do not overlap. If a held block covers several cells, it is the first block that begins in
// the first covered cell.
func (s *Allocations) GetPoolMap(ctx context.Context, project, name string, within netip.Prefix, depth int, r usecase.Reading) (Map, error) {
	_, key, err := s.Enter(ctx, tenancy.AllocationsRead, project)
	if err != nil {
		return Map{}, err
	}
	view := s.View(r)
	pool, err := view.PoolGet(ctx, key, name)
	if err != nil {
		return Map{}, err
	}
	if !within.IsValid() {
		within = pool.Block
	}
	if !freespace.Contains(pool.Block, within) {
		return Map{}, ipam.Invalid("query:within", "must be inside %s, the block of pool %s.", pool.Block, pool.Ref())
	}
	if depth < 1 || depth > MaxMapDepth {
		return Map{}, ipam.Invalid("query:depth", "must be 1 to %d.", MaxMapDepth)
	}
	cells := cellsOf(within, depth)
	tenancy.BudgetOf(ctx).Add(tenancy.Work{Rows: len(cells)})
	return regions.ReadInSnapshot(ctx, view, "map_of_pool", pool, func(ctx context.Context, read storage.Reader, pool ipam.Pool) (Map, error) {
		free, err := read.FreeCover(ctx, pool, within, cells[0].Bits())
		if err != nil {
			return Map{}, err
		}
		held, err := read.HeldUpTo(ctx, pool, uncovered(cells, free))
		for i := range held {
			held[i] = seenBy(key, held[i])
		}
		return Map{Within: within, Bits: cells[0].Bits(), Runs: runsOf(cells, held)}, err
	})
}

// uncovered returns the cells that are in no block. Both lists must be sorted by address.
func uncovered(cells, blocks []netip.Prefix) (rest []netip.Prefix) {
	for _, cell := range cells {
		for len(blocks) > 0 && freespace.Last(blocks[0]).Less(cell.Addr()) {
			blocks = blocks[1:]
		}
		if len(blocks) == 0 || !freespace.Contains(blocks[0], cell) {
			rest = append(rest, cell)
		}
	}
	return rest
}

// cellsOf divides a block into cells, in address order.
func cellsOf(within netip.Prefix, depth int) []netip.Prefix {
	bits := min(within.Bits()+depth, freespace.Width(within))
	cells := make([]netip.Prefix, 1<<(bits-within.Bits()))
	for i := range cells {
		cells[i], _ = freespace.NthBlock(within, bits, uint64(i))
	}
	return cells
}

// runsOf determines each cell's state, and joins adjacent cells with the same state. held contains the first held block that begins in each cell, and
// the last held block before all cells. held must be sorted by address.
func runsOf(cells []netip.Prefix, held []ipam.Allocation) []Run {
	var runs []Run
	last := -1
	for i, cell := range cells {
		for last+1 < len(held) && held[last+1].Block.Addr().Compare(freespace.Last(cell)) <= 0 {
			last++
		}
		run := Run{First: i, Count: 1}
		if last >= 0 {
			switch b := held[last].Block; {
			case freespace.Contains(b, cell):
				run.By = &held[last]
			case cell.Contains(b.Addr()):
				run.Mixed = true
			}
		}
		if n := len(runs); n > 0 && runs[n-1].By == run.By && runs[n-1].Mixed == run.Mixed {
			runs[n-1].Count++
			continue
		}
		runs = append(runs, run)
	}
	return runs
}
