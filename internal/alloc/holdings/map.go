package holdings

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// MaxMapDepth is how many bits longer the cells of a map are than its block at most.
const MaxMapDepth = 8

// Map is a block of a pool, cut into cells of one length.
type Map struct {
	Within netip.Prefix
	Bits   int // how long the cells are
	Runs   []Run
}

// Run is neighbouring cells that are the same: all held by one block, all free, or each of them mixed.
type Run struct {
	First, Count int
	By           *ipam.Allocation // the block that holds all of them
	Mixed        bool             // in each of them something is held, by blocks that are smaller
}

// GetPoolMap shows a block of a project's pool (zero: all of it) in cells that are depth bits longer, or as long as an address. What lies in a free block is free. Of
// the other cells the first block that begins in each is looked up, and the last before all: blocks that are held are disjoint, so that one which covers a cell, and
// begins in an earlier one, is the first that begins there.
func (s *Holdings) GetPoolMap(ctx context.Context, project, name string, within netip.Prefix, depth int, r usecase.Reading) (Map, error) {
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
	if !space.Contains(pool.Block, within) {
		return Map{}, ipam.Invalid("query:within", "must be inside %s, the block of pool %s.", pool.Block, pool.Ref())
	}
	if depth < 1 || depth > MaxMapDepth {
		return Map{}, ipam.Invalid("query:depth", "must be 1 to %d.", MaxMapDepth)
	}
	cells := cellsOf(within, depth)
	tenancy.BudgetOf(ctx).Add(tenancy.Work{Rows: len(cells)})
	return regions.AtOneMoment(ctx, view, "map_of_pool", pool, func(ctx context.Context, read storage.Reader, pool ipam.Pool) (Map, error) {
		free, err := read.FreeCover(ctx, pool, within, cells[0].Bits())
		if err != nil {
			return Map{}, err
		}
		held, err := read.HeldUpTo(ctx, pool, besides(cells, free))
		for i := range held {
			held[i] = seenBy(key, held[i])
		}
		return Map{Within: within, Bits: cells[0].Bits(), Runs: runsOf(cells, held)}, err
	})
}

// besides are those of some cells, in order of address, that do not lie in one of some blocks, in the same order.
func besides(cells, blocks []netip.Prefix) (rest []netip.Prefix) {
	for _, cell := range cells {
		for len(blocks) > 0 && space.Last(blocks[0]).Less(cell.Addr()) {
			blocks = blocks[1:]
		}
		if len(blocks) == 0 || !space.Contains(blocks[0], cell) {
			rest = append(rest, cell)
		}
	}
	return rest
}

// cellsOf cuts a block into cells, in order of address.
func cellsOf(within netip.Prefix, depth int) []netip.Prefix {
	bits := min(within.Bits()+depth, space.Width(within))
	cells := make([]netip.Prefix, 1<<(bits-within.Bits()))
	for i := range cells {
		cells[i], _ = space.NthBlock(within, bits, uint64(i))
	}
	return cells
}

// runsOf says what each cell is, and takes together those that are the same. held has, in order of address, the first block that begins in each cell, and the last before all cells.
func runsOf(cells []netip.Prefix, held []ipam.Allocation) []Run {
	var runs []Run
	last := -1
	for i, cell := range cells {
		for last+1 < len(held) && held[last+1].Block.Addr().Compare(space.Last(cell)) <= 0 {
			last++
		}
		run := Run{First: i, Count: 1}
		if last >= 0 {
			switch b := held[last].Block; {
			case space.Contains(b, cell):
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
