package scale

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// axis is a quantity that grows while everything else stays the same. The fixed rest is the base point: one project with one empty pool, 100 claims
// on a second pool, and no history. The empty pool is 10.0.0.0/8 unless the axis sets another. BestFit claims take single addresses from it.
type axis struct {
	name  string
	title string
	unit  string
	sizes []string
	short []string // sizes that this package's test measures
	// cells returns the cells of a size.
	cells func(size string) ([]cell, error)
}

// cell is one measured point of an axis: a size, and possibly one of several shapes of the data.
type cell struct {
	label string
	shape string // "" if the size has only one shape
	size  string // label of the size below a plot
	rows  int    // approximate number of loaded rows
	seed  func(context.Context, *world) (layout, error)
}

var (
	largePool = netip.MustParsePrefix("10.0.0.0/8")
	fillBlock = netip.MustParsePrefix("10.0.0.0/16")
)

func axes() []*axis {
	return []*axis{
		{"held", "Blocks held in one pool", "blocks held in 10.0.0.0/8", []string{"0", "10k", "1M", "10M"}, []string{"0", "1k"}, counted(0, func(n int) cell {
			return cell{rows: 2 * n, seed: func(ctx context.Context, w *world) (layout, error) { return fillPool(ctx, w, largePool, n, nil) }}
		})},
		{"fill", "How full one pool is", "per cent of 10.0.0.0/16 held", []string{"0", "50", "90", "99", "99.9"}, []string{"0", "5"}, fillCells},
		{"size", "Size of the pool", "length of the pool (v6: IPv6)", []string{"10.0.0.0/24", "10.0.0.0/16", "10.0.0.0/8", "2001:db8::/64", "2001:db8::/32"}, []string{"10.0.0.0/24", "2001:db8::/64"}, sizeCells},
		{"projects", "Projects", "projects, each with a pool, a claim and a quota", []string{"1", "1k", "100k"}, []string{"1", "10"}, counted(1, func(n int) cell {
			return cell{rows: 50 * n, seed: tenants(n)}
		})},
		{"pools", "Pools", "pools of one project, carved from one", []string{"1", "10k", "1M"}, []string{"1", "50"}, counted(1, func(n int) cell {
			return cell{rows: 3 * n, seed: children(n)}
		})},
		{"history", "Audit trail and history", "events, and as many holds that have ended", []string{"0", "10M"}, []string{"0", "1k"}, counted(0, func(n int) cell {
			return cell{rows: 2 * n, seed: past(largePool, n)}
		})},
	}
}

// counted returns a function that makes cells for numeric sizes such as 10k and 1M.
func counted(least int, of func(n int) cell) func(string) ([]cell, error) {
	return func(size string) ([]cell, error) {
		n, err := ParseSize(size)
		if err != nil {
			return nil, err
		}
		if n < least {
			return nil, fmt.Errorf("%q is too few: %d is the least", size, least)
		}
		c := of(n)
		c.label, c.size = size, size
		return []cell{c}, nil
	}
}

// ParseSize parses a number such as 0, 10k or 1M.
func ParseSize(size string) (int, error) {
	digits, factor := size, 1
	switch {
	case strings.HasSuffix(size, "k"):
		digits, factor = strings.TrimSuffix(size, "k"), 1000
	case strings.HasSuffix(size, "M"):
		digits, factor = strings.TrimSuffix(size, "M"), 1_000_000
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || n > 10_000 && factor == 1_000_000 {
		return 0, fmt.Errorf("%q is not a number such as 0, 10k or 1M", size)
	}
	return n * factor, nil
}

// fillCells makes two cells for a percentage. One fills the pool from the front, and the other fills it at random. An empty pool needs only one cell.
func fillCells(size string) ([]cell, error) {
	percent, err := strconv.ParseFloat(size, 64)
	if err != nil || percent < 0 || percent > 99.9 {
		return nil, fmt.Errorf("%q is not a part of a hundred, up to 99.9: some has to be free to be claimed", size)
	}
	units := 1 << (32 - fillBlock.Bits())
	n := int(float64(units)*percent/100) / (claimRun + 1) * (claimRun + 1)
	in := func(at []int) func(context.Context, *world) (layout, error) {
		return func(ctx context.Context, w *world) (layout, error) { return fillPool(ctx, w, fillBlock, n, at) }
	}
	if n == 0 {
		return []cell{{label: size + " %", size: size, seed: in(nil)}}, nil
	}
	return []cell{
		{label: size + " %, from the front", shape: "from the front", size: size, rows: 2 * n, seed: in(nil)},
		{label: size + " %, at random", shape: "at random", size: size, rows: 2 * n, seed: in(scattered(units, n))},
	}, nil
}

func sizeCells(size string) ([]cell, error) {
	block, err := netip.ParsePrefix(size)
	if err != nil || block != block.Masked() || block.Addr().BitLen()-block.Bits() < 8 {
		return nil, fmt.Errorf("%q is not a block of 256 addresses or more", size)
	}
	short := "/" + strconv.Itoa(block.Bits())
	if block.Addr().Is6() {
		short = "v6 " + short
	}
	return []cell{{label: size, size: short, seed: func(ctx context.Context, w *world) (layout, error) {
		return emptyPool(ctx, w, block, nearBlock(largePool))
	}}}, nil
}

// plan returns an axis's cells, smallest first.
func (a *axis) plan(sizes []string) ([]cell, error) {
	var out []cell
	for _, size := range sizes {
		cells, err := a.cells(size)
		if err != nil {
			return nil, fmt.Errorf("axis %s: %w", a.name, err)
		}
		out = append(out, cells...)
	}
	if len(out) < 2 {
		return nil, fmt.Errorf("axis %s: there is nothing to compare the smallest cell with", a.name)
	}
	return out, nil
}

func axisNames() []string {
	var names []string
	for _, a := range axes() {
		names = append(names, a.name)
	}
	return names
}

func findAxis(name string) (*axis, error) {
	all := axes()
	i := slices.IndexFunc(all, func(a *axis) bool { return a.name == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no axis %q; there are %s", name, strings.Join(axisNames(), ", "))
	}
	return all[i], nil
}
