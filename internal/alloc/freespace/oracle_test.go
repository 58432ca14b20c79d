package freespace_test

import (
	"cmp"
	"net/netip"
	"slices"

	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
)

// take implements the strategies with cells. For each request, it examines the whole container.
func (u *universe) take(c *cells, w freespace.BlockRequest) (netip.Prefix, bool) {
	target, ok := u.choose(c, w)
	if !ok {
		return netip.Prefix{}, false
	}
	c.set(target, false)
	return u.block(target), true
}

func (u *universe) choose(c *cells, w freespace.BlockRequest) (target span, ok bool) {
	if w.Exact != (netip.Prefix{}) {
		target, ok = u.blocks[w.Exact]
		return target, ok && c.all(target, true)
	}
	if w.Bits < u.container.Bits() || w.Bits > u.container.Bits()+8 {
		return span{}, false
	}
	count := u.count(w.Bits)
	large := slices.DeleteFunc(u.freeList(c), func(free span) bool { return free.count < count })
	switch w.Strategy {
	case freespace.FirstFit:
		for start := 0; start < 256; start += count {
			if c.all(span{start, count}, true) {
				return span{start, count}, true
			}
		}
	case freespace.BestFit:
		return first(large, count, func(x, y span) int {
			return cmp.Or(cmp.Compare(x.count, y.count), u.compareFrom(w.Start, x, y))
		})
	case freespace.Sparse:
		return first(large, count, func(x, y span) int {
			return cmp.Or(-cmp.Compare(x.count, y.count), cmp.Compare(x.start, y.start))
		})
	case freespace.Random:
		drawn := span{u.randomPlace(w, span{0, 256}, 0), count}
		if c.all(drawn, true) {
			return drawn, true
		}
		start := w.Start
		if !u.container.Contains(start) {
			start = u.block(drawn).Addr()
		}
		if len(large) == 0 {
			return span{}, false
		}
		free := slices.MinFunc(large, func(x, y span) int { return u.compareFrom(start, x, y) })
		return span{u.randomPlace(w, free, 64), count}, true
	}
	return span{}, false
}

// first returns the lowest part of the first block in the given order.
func first(free []span, count int, order func(x, y span) int) (span, bool) {
	if len(free) == 0 {
		return span{}, false
	}
	return span{slices.MinFunc(free, order).start, count}, true
}

// compareFrom orders blocks by address, but blocks before start come after all other blocks. It ignores a start outside the container.
func (u *universe) compareFrom(start netip.Addr, x, y span) int {
	before := func(s span) int {
		if u.container.Contains(start) && u.block(s).Addr().Less(start) {
			return 1
		}
		return 0
	}
	return cmp.Or(before(x)-before(y), cmp.Compare(x.start, y.start))
}

// randomPlace descends from a free block to the requested length by halving. At each step, one random bit selects the lower or the upper half. It is
// the bit at the position of this half in the address, shifted by turned bits.
func (u *universe) randomPlace(w freespace.BlockRequest, free span, turned int) (start int) {
	for bits := u.container.Bits(); bits < w.Bits; bits++ {
		half := u.count(bits) / 2
		if half >= free.count {
			continue
		}
		at := (bits + turned) % 128
		if w.Rand[at/8]>>(7-at%8)&1 == 1 {
			start += half
		}
	}
	return free.start + start
}

// read executes reads on the whole free list, like a store does.
func read(free []netip.Prefix, reads freespace.Reads) []netip.Prefix {
	var rows []netip.Prefix
	for _, key := range reads.Keys {
		if slices.Contains(free, key) {
			rows = append(rows, key)
		}
	}
	for _, scan := range reads.Scans {
		rows = append(rows, readScan(free, scan)...)
	}
	return rows
}

func readScan(free []netip.Prefix, scan freespace.Scan) []netip.Prefix {
	var rows []netip.Prefix
	for _, p := range free {
		if scan.MinBits <= p.Bits() && p.Bits() <= scan.MaxBits && !p.Addr().Less(scan.From) {
			rows = append(rows, p)
		}
	}
	slices.SortFunc(rows, func(x, y netip.Prefix) int {
		byLength := cmp.Compare(x.Bits(), y.Bits())
		switch scan.Order {
		case freespace.LowestFirst:
			byLength = 0
		case freespace.TightestFirst:
			byLength = -byLength
		case freespace.LargestFirst: // the shortest length first, which is the order of byLength
		}
		return cmp.Or(byLength, x.Addr().Compare(y.Addr()))
	})
	return rows[:min(len(rows), scan.Limit)]
}

// drawWish draws any request that a caller may make. Some of them no container can grant.
func (u *universe) drawWish(t *rapid.T) freespace.BlockRequest {
	if rapid.IntRange(0, 7).Draw(t, "exact") == 0 {
		exact := u.block(drawSpan(t, "exact"))
		if rapid.IntRange(0, 7).Draw(t, "stray") == 0 {
			exact = rapid.SampledFrom([]netip.Prefix{netip.PrefixFrom(exact.Addr(), -1), pfx("192.0.2.0/24"), pfx("10.1.2.3/8"), pfx("fc00::/7")}).Draw(t, "stray block")
			if _, inside := u.blocks[exact]; !inside && exact.Bits() > u.container.Bits()+8 {
				exact = netip.PrefixFrom(exact.Addr(), -1) // smaller than a cell
			}
		}
		return freespace.BlockRequest{Exact: exact}
	}
	w := freespace.BlockRequest{
		// Draw small blocks more often than large ones, so that the container does not fill up at once.
		Bits:     u.container.Bits() + 8 - min(rapid.IntRange(0, 8).Draw(t, "size"), rapid.IntRange(0, 8).Draw(t, "size again")),
		Strategy: rapid.SampledFrom([]freespace.Strategy{freespace.BestFit, freespace.FirstFit, freespace.Random, freespace.Sparse}).Draw(t, "strategy"),
	}
	if rapid.IntRange(0, 15).Draw(t, "impossible") == 0 {
		w.Bits = rapid.SampledFrom([]int{-1, u.container.Bits() - 1, freespace.Width(u.container) + 1, 1000}).Draw(t, "length")
	}
	if w.Strategy == freespace.Random {
		copy(w.Rand[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "random"))
	}
	switch rapid.IntRange(0, 3).Draw(t, "start") {
	case 0:
		w.Start = u.block(span{rapid.IntRange(0, 255).Draw(t, "start cell"), 1}).Addr()
	case 1:
		w.Start = rapid.SampledFrom([]netip.Addr{ip("0.0.0.0"), ip("255.255.255.255"), ip("::"), ip(lastIPv6), ip("fe80::1%eth0")}).Draw(t, "start")
	}
	return w
}
